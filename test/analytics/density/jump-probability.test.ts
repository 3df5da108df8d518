import { describe, expect, test } from 'bun:test';
import { jumpProbability } from '../../../src/analytics/density/jump-probability.ts';
import { DEFAULT_JUMP_SIZES } from '../../../src/analytics/density/jump-sizes.ts';
import { surfaceOf, type VolatilitySurface } from '../../../src/analytics/density/surface.ts';
import { normalCdf } from '../plain.ts';
import { prepared, quoted, range } from '../small-chains.ts';

/** A surface with volatility v everywhere and carry r - q. */
function flat(v: number, r = 0, q = 0): VolatilitySurface {
  return { variance: (_, tte) => v * v * tte, carry: (tte) => (r - q) * tte, rate: () => r };
}

const DAY = 1 / 365.25;
const QUESTION = { spot: 100, strike: 105, tte: 30 * DAY, noJump: 0.5, sizes: DEFAULT_JUMP_SIZES };

/** N(d2) and its complement, computed without the kernels. */
function diffusion(
  surface: VolatilitySurface,
  { spot, strike, tte }: { spot: number; strike: number; tte: number },
): number {
  const carry = surface.carry(tte);
  const w = surface.variance(Math.log(strike / spot) - carry, tte);
  const d2 = (Math.log(spot / strike) + carry - w / 2) / Math.sqrt(w);
  return normalCdf(strike >= spot ? d2 : -d2);
}

/** Merton's series, term by term. */
function mertonSum(
  spot: number,
  strike: number,
  tte: number,
  carry: number,
  s: number,
  l: number,
  m: number,
  d: number,
) {
  const k = Math.exp(m + (d * d) / 2) - 1;
  let sum = 0;
  let weight = Math.exp(-l * tte);
  for (let n = 0; n < 60; n++, weight *= (l * tte) / n) {
    const mean = Math.log(spot / strike) + carry - l * k * tte - (s * s * tte) / 2 + n * m;
    sum += weight * normalCdf(mean / Math.sqrt(s * s * tte + n * d * d));
  }
  return sum;
}

const SMILE = surfaceOf(
  prepared([
    ...quoted({ strikes: range(80, 120), iv: (strike) => 0.3 + 0.004 * Math.abs(100 - strike), dividend: 0.01 }),
    ...quoted({ strikes: range(80, 120), iv: 0.35, expiry: '2026-03-20' }),
  ]),
)!;

describe('without jumps it equals plain diffusion', () => {
  test.each([
    ['above', flat(0.3), 100, 105, 30],
    ['below', flat(0.3), 100, 95, 30],
    ['at spot', flat(0.3), 100, 100, 30],
    ['with rates', flat(0.3, 0.05, 0.01), 100, 105, 90],
    ['with a yield', flat(0.3, 0.01, 0.08), 100, 90, 365],
    ['one day', flat(0.5), 100, 102, 1],
    ['on a smile', SMILE, 100, 108, 20],
    ['on a smile, below', SMILE, 100, 92, 40],
    ['reckoned from another spot', SMILE, 103, 108, 20],
  ] as const)('%s', (_what, surface, spot, strike, days) => {
    const question = { spot, strike, tte: days * DAY };
    const found = jumpProbability(surface, { ...question, noJump: 1, sizes: DEFAULT_JUMP_SIZES });
    expect(found.probability).toBeCloseTo(diffusion(surface, question), 10);
    expect(found).toMatchObject({ intensity: 0, jumpScale: 1, tte: question.tte });
    expect(found.diffusionVolatility).toBeCloseTo(Math.sqrt(found.totalVariance / question.tte), 12);
  });
});

describe('diffusion and jumps add up to the strike’s variance', () => {
  test.each([0.001, 0.1, 0.5, 0.9, 0.999, 1])('no jump with probability %d', (noJump) => {
    for (const days of [1, 30, 365]) {
      for (const strike of [90, 100, 110]) {
        const tte = days * DAY;
        const found = jumpProbability(SMILE, { ...QUESTION, tte, strike, noJump });
        const { mean, width } = found.sizes;
        expect(found.intensity * tte).toBeCloseTo(-Math.log(noJump), 12);
        const shared = found.diffusionVolatility ** 2 * tte + found.intensity * tte * (mean ** 2 + width ** 2);
        expect(shared / found.totalVariance).toBeCloseTo(1, 12);
        expect(found.totalVariance).toBe(SMILE.variance(Math.log(strike / 100) - SMILE.carry(tte), tte));
        expect(found.probability).toBeCloseTo(plainProbability(found, strike), 9);
      }
    }
  });

  function plainProbability(found: ReturnType<typeof jumpProbability>, strike: number): number {
    const carry = (found.rate - found.dividend) * found.tte;
    const { diffusionVolatility: s, intensity: l, sizes } = found;
    const above = mertonSum(100, strike, found.tte, carry, s, l, sizes.mean, sizes.width);
    return strike >= 100 ? above : 1 - above;
  }
});

describe('the scale of jumps', () => {
  // -ln(0.5) * (0.02^2 + 0.04^2)
  const jumpVariance = Math.LN2 * 0.002;
  test.each([
    ['is 1 if the jumps fit into the variance', 0.3, 30, 1],
    ['is limited to three quarters of the variance over a day', 0.3, 1, Math.sqrt((0.75 * 0.09 * DAY) / jumpVariance)],
    ['is smaller for a calmer underlying', 0.1, 1, Math.sqrt((0.75 * 0.01 * DAY) / jumpVariance)],
  ])('%s', (_what, iv, days, expected) => {
    const found = jumpProbability(flat(iv), { ...QUESTION, tte: days * DAY });
    expect(found.jumpScale).toBeCloseTo(expected, 12);
    expect(found.sizes.mean).toBeCloseTo(-0.02 * expected, 14);
    expect(found.sizes.width).toBeCloseTo(0.04 * expected, 14);
    expect(found.diffusionVolatility).toBeGreaterThanOrEqual(0.4999 * iv);
  });

  // If the jumps' share of the variance differed by strike, the probability would rise with the strike.
  test.each([0.999, 0.5, 0.001])(
    'the jumps’ share of the variance is the same at every strike (no jump: %d)',
    (noJump) => {
      for (const days of [1, 30, 365]) {
        const share = (strike: number) => {
          const found = jumpProbability(SMILE, { ...QUESTION, tte: days * DAY, strike, noJump });
          return found.diffusionVolatility ** 2 / (found.totalVariance / found.tte);
        };
        for (const strike of [70, 90, 110, 140]) expect(share(strike)).toBeCloseTo(share(100), 10);
      }
    },
  );

  test('is 1 at the forward, and elsewhere the ratio of the volatilities', () => {
    const question = { ...QUESTION, noJump: 0.9 };
    const forward = 100 * Math.exp(SMILE.carry(question.tte));
    const at = (strike: number) => jumpProbability(SMILE, { ...question, strike });
    expect(at(forward).jumpScale).toBeCloseTo(1, 12);
    for (const strike of [80, 120]) {
      expect(at(strike).jumpScale).toBeCloseTo(Math.sqrt(at(strike).totalVariance / at(forward).totalVariance), 12);
    }
    expect(at(80).jumpScale).toBeGreaterThan(1.05);
  });

  test('jumps of size 0 give a plain diffusion', () => {
    const found = jumpProbability(flat(0.3), { ...QUESTION, sizes: { mean: 0, width: 0 } });
    expect(found.jumpScale).toBe(1);
    expect(found.probability).toBeCloseTo(diffusion(flat(0.3), QUESTION), 10);
  });
});

describe('direction', () => {
  test.each([
    [100.01, 'at_or_above'],
    [100, 'at_or_above'],
    [99.99, 'at_or_below'],
  ] as const)('a strike of %d against a spot of 100: %s', (strike, direction) => {
    expect(jumpProbability(flat(0.3), { ...QUESTION, strike }).direction).toBe(direction);
  });

  test('the probabilities of both sides of a strike add up to 1', () => {
    const above = jumpProbability(flat(0.3), { ...QUESTION, spot: 99.999999, strike: 100 }).probability;
    const below = jumpProbability(flat(0.3), { ...QUESTION, spot: 100.000001, strike: 100 }).probability;
    expect(above + below).toBeCloseTo(1, 6);
  });
});

test.each([1, 0.5, 0.01])('the probability decreases with the distance of the strike (no jump: %d)', (noJump) => {
  for (const surface of [flat(0.3, 0.04), SMILE]) {
    const of = (strike: number) => jumpProbability(surface, { ...QUESTION, strike, noJump }).probability;
    const up = range(100, 160, 0.5).map(of);
    const down = range(40, 99.5, 0.5).map(of).reverse();
    for (const probabilities of [up, down]) {
      probabilities.forEach((each, i) => {
        expect(each).toBeWithin(0, 1 + 1e-15);
        if (i > 0) expect(each).toBeLessThan(probabilities[i - 1]!);
      });
    }
  }
});

test('time counts as at least 15 minutes', () => {
  const quarter = 15 / (365.25 * 24 * 60);
  for (const tte of [0, quarter / 2, quarter]) {
    expect(jumpProbability(flat(0.3), { ...QUESTION, tte }).tte).toBeCloseTo(quarter, 15);
  }
});

test.each([
  ['a strike near zero', { strike: 1e-6 }],
  ['a very large strike', { strike: 1e9 }],
  ['a spot near zero', { spot: 1e-6 }],
  ['ten years', { tte: 10 }],
  ['almost certain jumps', { noJump: 0.001, tte: 10 }],
])('is finite with %s', (_what, overrides) => {
  const found = jumpProbability(SMILE, { ...QUESTION, ...overrides });
  expect(found.probability).toBeWithin(0, 1 + 1e-15);
  for (const figure of [found.diffusionVolatility, found.intensity, found.rate, found.dividend]) {
    expect(figure).toBeFinite();
  }
});

// Quotes an hour before settlement imply a forward 2 % from spot, which extrapolates to 180 a year.
test.each([98, 102])(
  'is finite after ten years if the only known series settles in an hour with the forward at %d',
  (forward) => {
    const rows = quoted({ strikes: range(90, 110), spot: forward, expiry: '2026-01-05', iv: 0.5 });
    const surface = surfaceOf(prepared(rows))!;
    for (const strike of [50, 100, 150]) {
      const found = jumpProbability(surface, { ...QUESTION, strike, tte: 10 });
      expect(found.probability).toBeWithin(0, 1 + 1e-15);
      expect(found.dividend).toBeFinite();
    }
  },
);
