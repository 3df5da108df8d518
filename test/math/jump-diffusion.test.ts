import { describe, expect, test } from 'bun:test';
import { greeksOf } from '../../src/math/black-scholes.ts';
import { type JumpDiffusionColumns, merton, mertonProbabilities } from '../../src/math/jump-diffusion.ts';
import { normalCdf } from '../../src/math/normal.ts';
import { exactMerton, type JumpOption } from '../fixtures/exact.ts';
import { columnsOf, drawJumpOptions, referenceJumpOptions } from '../fixtures/vectors.ts';
import { EPSILON, reference, worst } from './reference.ts';

const rows = reference('merton.csv');
const options: JumpDiffusionColumns = columnsOf(referenceJumpOptions());
const computed = merton(options);

const one = {
  ...{ count: 1, spot: 100, strike: 95, tte: 0.5, iv: 0.2, rate: 0.03, dividend: 0.01 },
  ...{ jumpIntensity: 2, jumpMean: -0.05, jumpVol: 0.1 },
};

test.each([
  ['probAbove', 'prob_above'],
  ['call', 'call'],
  ['put', 'put'],
] as const)('%s against 60-digit values', (name, column) => {
  const row = worst(computed[name], rows.column(column), rows.column(`condition_${column}`));
  expect(row.scaledError, JSON.stringify(row)).toBeLessThan(2.5);
});

test('the probabilities alone agree with 60-digit values, and each row is independent', () => {
  const { probAbove, probBelow } = mertonProbabilities(options);
  const row = worst(probAbove, rows.column('prob_above'), rows.column('condition_prob_above'));
  expect(row.scaledError, JSON.stringify(row)).toBeLessThan(2.5);
  const below = worst(probBelow, computed.probBelow, rows.column('condition_prob_above'));
  expect(below.scaledError, JSON.stringify(below)).toBeLessThan(2.5);
  for (const i of [0, 1, 499, 999]) {
    const cut = (column: Float64Array | number) => (typeof column === 'number' ? column : column.slice(i, i + 1));
    const { count: _, ...columns } = options;
    const single = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, cut(column)]));
    expect(mertonProbabilities({ ...one, ...single }).probAbove[0]).toBe(probAbove[i]!);
  }
});

// Haug, Option Pricing Formulas (1998), page 9, as in QuantLib's test-suite/jumpdiffusion.cpp: S = 100, r = 8 %, total
// volatility 25 %. Jumps of mean zero make up a share of the variance. By share and strike: 1, 5 and 10 jumps a year, T = 0.1, 0.25 and 0.5 each. Haug left out all
// terms after the eleventh. QuantLib's authors corrected values that changed by 0.01 or more.
const HAUG: Readonly<Record<number, Readonly<Record<number, readonly number[]>>>> = {
  0.25: {
    80: [20.67, 21.74, 23.63, 20.65, 21.7, 23.61, 20.64, 21.7, 23.61],
    90: [11.0, 12.74, 15.4, 10.98, 12.75, 15.42, 10.98, 12.75, 15.42],
    100: [3.42, 5.88, 8.95, 3.51, 5.96, 9.02, 3.53, 5.97, 9.03],
    110: [0.55, 2.11, 4.67, 0.56, 2.16, 4.73, 0.56, 2.17, 4.74],
    120: [0.1, 0.64, 2.23, 0.06, 0.63, 2.25, 0.05, 0.62, 2.25],
  },
  0.5: {
    80: [20.72, 21.83, 23.71, 20.66, 21.73, 23.63, 20.65, 21.71, 23.61],
    90: [11.04, 12.72, 15.34, 11.02, 12.76, 15.41, 11.0, 12.75, 15.41],
    100: [3.14, 5.58, 8.71, 3.39, 5.87, 8.96, 3.46, 5.93, 9.0],
    110: [0.53, 1.93, 4.42, 0.58, 2.11, 4.67, 0.57, 2.14, 4.71],
    120: [0.19, 0.71, 2.15, 0.1, 0.66, 2.23, 0.07, 0.64, 2.24],
  },
  0.75: {
    80: [20.79, 21.96, 23.86, 20.68, 21.78, 23.67, 20.66, 21.74, 23.64],
    90: [11.11, 12.75, 15.3, 11.09, 12.78, 15.39, 11.04, 12.76, 15.4],
    100: [2.7, 5.08, 8.24, 3.16, 5.71, 8.85, 3.33, 5.85, 8.95],
    110: [0.54, 1.69, 3.99, 0.62, 2.05, 4.57, 0.6, 2.11, 4.66],
    120: [0.29, 0.84, 2.09, 0.15, 0.71, 2.21, 0.11, 0.67, 2.23],
  },
};

describe.each(Object.entries(HAUG))('published, jumps make up %s of the variance', (share, strikes) => {
  test.each(Object.entries(strikes))('K %d', (strike, published) => {
    const jumpIntensity = Float64Array.of(1, 1, 1, 5, 5, 5, 10, 10, 10);
    const tte = Float64Array.of(0.1, 0.25, 0.5, 0.1, 0.25, 0.5, 0.1, 0.25, 0.5);
    const jumpVol = jumpIntensity.map((intensity) => 0.25 * Math.sqrt(Number(share) / intensity));
    const iv = 0.25 * Math.sqrt(1 - Number(share));
    const jumpMean = jumpVol.map((width) => -(width ** 2) / 2);
    const others = { count: 9, spot: 100, strike: Number(strike), iv, rate: 0.08, dividend: 0 };
    const { call } = merton({ ...others, tte, jumpIntensity, jumpMean, jumpVol });
    call.forEach((price, i) => {
      // The missing terms are visible from two expected jumps on.
      const tolerance = jumpIntensity[i]! * tte[i]! < 2 ? 0.0051 : 0.01;
      expect(Math.abs(price - published[i]!), `${published[i]}, T ${tte[i]}`).toBeLessThan(tolerance);
    });
  });
});

test('without jumps it equals Black-Scholes-Merton', () => {
  for (const strike of [60, 95, 100, 160]) {
    const { probAbove, probBelow, call, put } = merton({ ...one, strike, jumpIntensity: 0 });
    const option = { ...one, strike };
    const asCall = greeksOf({ ...option, callPut: 1 });
    const asPut = greeksOf({ ...option, callPut: -1 });
    const discounted = strike * one.tte * Math.exp(-one.rate * one.tte);
    expect(call[0]).toBeCloseTo(asCall.price, 12);
    expect(put[0]).toBeCloseTo(asPut.price, 12);
    // Rho is K T e^(-rT) N(d2).
    expect(probAbove[0]).toBeCloseTo(asCall.rho / discounted, 14);
    expect(probBelow[0]).toBeCloseTo(-asPut.rho / discounted, 14);
  }
});

test('jumps without width are a Poisson mixture of shifted diffusions', () => {
  const { count: _, ...rest } = { ...one, jumpVol: 0 };
  const k = Math.expm1(rest.jumpMean);
  let [above, weight] = [0, Math.exp(-rest.jumpIntensity * rest.tte)];
  for (let n = 0; n < 40; n++) {
    const deviation = rest.iv * Math.sqrt(rest.tte);
    const drift = (rest.rate - rest.dividend - rest.jumpIntensity * k - rest.iv ** 2 / 2) * rest.tte;
    above += weight * normalCdf((Math.log(rest.spot / rest.strike) + drift + n * rest.jumpMean) / deviation);
    weight *= (rest.jumpIntensity * rest.tte) / (n + 1);
  }
  expect(merton({ ...rest, count: 1 }).probAbove[0]).toBeCloseTo(above, 14);
});

test('above and below add up to 1, and the tail is not computed as 1 minus the other', () => {
  const off = computed.probAbove.map((above, i) => Math.abs(above + computed.probBelow[i]! - 1));
  expect(Math.max(...off)).toBeLessThan(3e-15);
  expect(Math.max(...computed.probAbove, ...computed.probBelow)).toBe(1);
  const far = merton({ ...one, strike: 1, jumpIntensity: 0.1 });
  expect(far.probAbove[0]).toBe(1);
  expect(far.probBelow[0]).toBeGreaterThan(1e-300);
  expect(far.probBelow[0]).toBeLessThan(1e-18);
});

test('parity: call minus put is the discounted forward', () => {
  const [S, K, T, r, q] = [options.spot, options.strike, options.tte, options.rate, options.dividend] as Float64Array[];
  for (let i = 0; i < options.count; i++) {
    const spotNow = S![i]! * Math.exp(-q![i]! * T![i]!);
    const strikeNow = K![i]! * Math.exp(-r![i]! * T![i]!);
    const gap = computed.call[i]! - computed.put[i]! - (spotNow - strikeNow);
    expect(Math.abs(gap), `row ${i}`).toBeLessThan(3e-14 * (spotNow + strikeNow));
  }
});

describe('relations of random options', () => {
  const drawn = drawJumpOptions(400);
  const columns = columnsOf(drawn);

  test.each([-20, 3])('scales exactly with spot and strike times 2^%d', (power) => {
    const factor = 2 ** power;
    const plain = merton(columns);
    const scaled = merton(
      columnsOf(drawn.map((option) => ({ ...option, spot: factor * option.spot, strike: factor * option.strike }))),
    );
    for (const name of ['probAbove', 'probBelow', 'call', 'put'] as const) {
      plain[name].forEach((value, row) => {
        const unit = name === 'call' || name === 'put' ? factor : 1;
        // Values close to the smallest double lose bits.
        if (value > 1e-280) expect(scaled[name][row]! / unit, `${name} of ${JSON.stringify(drawn[row])}`).toBe(value);
      });
    }
  });

  test('for a higher strike the probability above and the call are lower, and the put is higher', () => {
    const count = 41;
    for (const option of drawn) {
      const strike = Float64Array.from({ length: count }, (_, i) => option.strike * 1.05 ** (i - 20));
      const { probAbove, probBelow, call, put } = merton({ ...option, count, strike });
      for (let i = 1; i < count; i++) {
        // At most two roundings per jump, and the logarithm's in each term.
        const noise = 64 * EPSILON;
        expect(probAbove[i]!, JSON.stringify(option)).toBeLessThanOrEqual(probAbove[i - 1]! * (1 + noise));
        expect(probBelow[i]! * (1 + noise), JSON.stringify(option)).toBeGreaterThanOrEqual(probBelow[i - 1]!);
        const value = noise * (option.spot + strike[i]!);
        expect(call[i]!, JSON.stringify(option)).toBeLessThanOrEqual(call[i - 1]! + value);
        expect(put[i]! + value, JSON.stringify(option)).toBeGreaterThanOrEqual(put[i - 1]!);
      }
    }
  });

  test('prices rise with the volatility of the diffusion and of the jumps', () => {
    const count = 20;
    for (const option of drawn.filter(({ jumpMean, jumpVol }) => jumpMean + jumpVol ** 2 / 2 < 0.3)) {
      for (const name of ['iv', 'jumpVol'] as const) {
        // Wider jumps with the same mean factor: only the spread changes.
        const grown = Float64Array.from({ length: count }, (_, i) => option[name] * 1.02 ** i);
        const shift = grown.map((width) => (name === 'iv' ? 0 : (option.jumpVol ** 2 - width ** 2) / 2));
        const jumpMean = shift.map((by) => option.jumpMean + by);
        const { call, put } = merton({ ...option, count, jumpMean, [name]: grown });
        const noise = 64 * EPSILON * (option.spot + option.strike);
        for (let i = 1; i < count; i++) {
          expect(call[i]! - call[i - 1]!, JSON.stringify(option)).toBeGreaterThanOrEqual(-noise);
          expect(put[i]! - put[i - 1]!, JSON.stringify(option)).toBeGreaterThanOrEqual(-noise);
        }
      }
    }
  });

  // A call pays the strike if the underlying ends above it.
  test.each([
    ['call', 'probAbove', -1],
    ['put', 'probBelow', 1],
  ] as const)('the %s changes with the strike by the discounted %s', (price, probability, sign) => {
    for (const option of drawn) {
      const { tte, iv, rate, strike } = option;
      const exact = exactMerton(option);
      const step = (0.02 * strike * Math.min(1, iv * Math.sqrt(tte))) / (1 + distance(option));
      const strikes = Float64Array.from({ length: 9 }, (_, k) => strike + (k - 4) * step);
      const { [price]: at } = merton({ ...option, count: 9, strike: strikes });
      const difference = (k: number) => at[4 + k]! - at[4 - k]!;
      const slope =
        (0.8 * difference(1) - 0.2 * difference(2) + (4 / 105) * difference(3) - difference(4) / 280) / step;
      const expected = sign * Math.exp(-rate * tte) * exact[probability].value.high;
      const noise = (16 * EPSILON * (exact[price].value.high + exact[price].condition)) / step;
      expect(Math.abs(slope - expected), JSON.stringify(option)).toBeLessThanOrEqual(
        noise + 1e-10 * Math.abs(expected) + 1e-280,
      );
    }
  });
});

/** Distance of the strike from the forward without a jump, in deviations of the diffusion. */
function distance({ spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol }: JumpOption): number {
  const compensator = jumpIntensity * tte * Math.expm1(jumpMean + jumpVol ** 2 / 2);
  return Math.abs(Math.log(spot / strike) + (rate - dividend) * tte - compensator) / (iv * Math.sqrt(tte));
}

describe('limits', () => {
  test.each([
    ['T = 0, above', { tte: 0 }, { probAbove: 1, probBelow: 0, call: 5, put: 0 }],
    ['T = 0, below', { tte: 0, strike: 110 }, { probAbove: 0, probBelow: 1, call: 0, put: 10 }],
    ['T = 0, at the strike: at or above', { tte: 0, strike: 100 }, { probAbove: 1, probBelow: 0, call: 0, put: 0 }],
    [
      'no volatility and no jumps',
      { iv: 0, jumpIntensity: 0, rate: 0, dividend: 0 },
      { probAbove: 1, probBelow: 0, call: 5, put: 0 },
    ],
    ['v to infinity', { iv: 1e3, rate: 0, dividend: 0 }, { probAbove: 0, probBelow: 1, call: 100, put: 95 }],
    ['S to 0', { spot: 1e-14, rate: 0, dividend: 0 }, { probAbove: 0, probBelow: 1, call: 0, put: 95 }],
    ['K to 0', { strike: 1e-14, rate: 0, dividend: 0 }, { probAbove: 1, probBelow: 0, call: 100, put: 0 }],
    [
      'only jumps, with width',
      { iv: 0, strike: 1e-3, rate: 0, dividend: 0 },
      { probAbove: 1, probBelow: 0, call: 99.999, put: 0 },
    ],
  ])('%s', (_, change, limit) => {
    const { probAbove, probBelow, call, put } = merton({ ...one, ...change });
    expect(probAbove[0]).toBeCloseTo(limit.probAbove, 14);
    expect(probBelow[0]).toBeCloseTo(limit.probBelow, 14);
    expect(call[0]).toBeCloseTo(limit.call, 12);
    expect(put[0]).toBeCloseTo(limit.put, 12);
  });

  test('accepts up to 256 expected jumps, and returns NaN beyond', () => {
    const many = merton({ ...one, jumpIntensity: 512, jumpMean: -5e-5, jumpVol: 0.01 });
    expect(many.probAbove[0]! + many.probBelow[0]!).toBeCloseTo(1, 13);
    expect(many.call[0]! - many.put[0]!).toBeCloseTo(100 * Math.exp(-0.005) - 95 * Math.exp(-0.015), 10);
    const tooMany = merton({ ...one, jumpIntensity: 520, jumpMean: 0, jumpVol: 0.01 });
    for (const column of Object.values(tooMany)) expect(column[0]).toBeNaN();
    const tooManyInSpot = merton({ ...one, jumpIntensity: 500, jumpMean: 0.1, jumpVol: 0.01 });
    expect(tooManyInSpot.probAbove[0]).toBeNaN();
  });

  test('a NaN input gives NaN', () => {
    const { count: _, ...inputs } = one;
    for (const field of Object.keys(inputs)) {
      expect(merton({ ...one, [field]: Number.NaN }).probAbove[0], field).toBeNaN();
    }
  });
});

test('each row is independent, bit for bit', () => {
  for (const i of [0, 1, 499, 998, 999]) {
    const cut = (column: Float64Array | number) => (typeof column === 'number' ? column : column.slice(i, i + 1));
    const { count: _, ...columns } = options;
    const alone = merton({ ...one, ...Object.fromEntries(Object.entries(columns).map(([name, c]) => [name, cut(c)])) });
    for (const name of ['probAbove', 'probBelow', 'call', 'put'] as const)
      expect(alone[name][0]).toBe(computed[name][i]!);
  }
  expect(merton({ ...one, count: 0 }).call).toHaveLength(0);
  expect(merton({ ...one, count: 3000 }).call.every((value, _, all) => value === all[0])).toBe(true);
  expect(() => merton({ ...one, jumpVol: new Float64Array(2) })).toThrow('column jumpVol has 2 rows, expected 1');
});
