import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { DEFAULT_JUMP_SIZES, jumpSizesOf } from '../../../src/analytics/density/jump-sizes.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { SIMULATED, simulated } from '../simulated.ts';
import { contract, prepared, quoted, range, yearsTo } from '../small-chains.ts';

/** Merton's parameters: diffusion volatility, jumps per year, mean and width of the jumps. */
interface Model {
  readonly s: number;
  readonly l: number;
  readonly m: number;
  readonly d: number;
}

const RATE = 0.04;
/** The diffusion volatility of each series as a multiple of the model's. */
const EXPIRIES = { '2026-01-16': 1, '2026-01-30': 1.05, '2026-02-20': 1.1, '2026-03-20': 0.95 };

/** Undiscounted call at a forward of 100: Merton's original series over Black's formula. */
function mertonCall({ s, l, m, d }: Model, strike: number, tte: number): number {
  const k = Math.exp(m + (d * d) / 2) - 1;
  let weight = Math.exp(-l * tte);
  let sum = 0;
  for (let n = 0; n < 60; n++, weight *= (l * tte) / n) {
    const forward = 100 * Math.exp(-l * k * tte + n * (m + (d * d) / 2));
    const deviation = Math.sqrt(s * s * tte + n * d * d);
    const d1 = Math.log(forward / strike) / deviation + deviation / 2;
    sum += weight * (forward * normalCdf(d1) - strike * normalCdf(d1 - deviation));
  }
  return sum;
}

/** A chain quoted around a model. The middles deviate by up to `noise` dollars. */
function chainFrom(
  model: Model,
  { strikes = range(60, 140), noise = 0, expiries = EXPIRIES as Record<string, number> } = {},
) {
  let seed = 1;
  const chance = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return (2 * seed) / 2_147_483_647 - 1;
  };
  const half = Math.max(noise, 0.005);
  return prepared(
    Object.entries(expiries).flatMap(([expiry, factor]) => {
      const tte = yearsTo('ACME', expiry);
      const discount = Math.exp(-RATE * tte);
      const forward = 100 * Math.exp(RATE * tte);
      return strikes.flatMap((strike) => {
        const call =
          (discount * forward * mertonCall({ ...model, s: factor * model.s }, (100 * strike) / forward, tte)) / 100;
        const off = noise * chance();
        return [
          [1, call],
          [-1, call - discount * (forward - strike)],
        ].map(([callPut, price]) =>
          contract({ expiry, strike, callPut: callPut!, bid: price! + off - half, ask: price! + off + half }),
        );
      });
    }),
  );
}

const MODELS: readonly Model[] = [
  { s: 0.2, l: 1, m: -0.1, d: 0.1 },
  { s: 0.2, l: 3, m: -0.05, d: 0.05 },
  { s: 0.3, l: 8, m: -0.03, d: 0.06 },
  { s: 0.15, l: 0.3, m: -0.18, d: 0.15 },
  { s: 0.25, l: 2, m: 0.05, d: 0.08 },
];

describe('recovers the jumps of the chain’s model', () => {
  test.each(MODELS)('%j: exactly from exact quotes', (model) => {
    const { sizes, fitted, points } = jumpSizesOf(chainFrom(model));
    expect(Math.abs(sizes.mean - model.m)).toBeLessThan(0.005);
    expect(Math.abs(sizes.width - model.d)).toBeLessThan(0.002);
    expect(Math.abs(fitted!.intensity / model.l - 1)).toBeLessThan(0.12);
    Object.values(EXPIRIES).forEach((factor, i) => {
      expect(Math.abs(fitted!.diffusionVolatilities[i]! / (factor * model.s) - 1)).toBeLessThan(0.02);
    });
    expect(fitted!.error).toBeLessThan(0.02);
    expect(points).toBe(64);
  });

  // The least certain parameter is the intensity, because many small jumps resemble few larger ones. Their variance is
  // well determined.
  test.each(MODELS)('%j: approximately from quotes off by up to a cent, and the variance well', (model) => {
    const { sizes, fitted } = jumpSizesOf(chainFrom(model, { noise: 0.01 }));
    expect(Math.abs(sizes.mean - model.m)).toBeLessThan(0.02);
    expect(Math.abs(sizes.width - model.d)).toBeLessThan(0.01);
    const variance = fitted!.intensity * (sizes.mean ** 2 + sizes.width ** 2);
    expect(Math.abs(variance / (model.l * (model.m ** 2 + model.d ** 2)) - 1)).toBeLessThan(0.1);
    expect(fitted!.error).toBeLessThan(0.3);
  });

  test.each(MODELS)('%j: roughly from quotes off by up to ten cents', (model) => {
    const { sizes, fitted } = jumpSizesOf(chainFrom(model, { noise: 0.1 }));
    expect(Math.abs(sizes.mean - model.m)).toBeLessThan(0.1);
    expect(Math.abs(sizes.width - model.d)).toBeLessThan(0.06);
    expect(fitted!.error).toBeWithin(0.4, 1.2);
  });
});

describe('chains that do not determine the jumps', () => {
  test('a flat smile has small jumps or none', () => {
    const { sizes, fitted } = jumpSizesOf(chainFrom({ s: 0.3, l: 0, m: 0, d: 0.001 }));
    expect(fitted!.intensity * (sizes.mean ** 2 + sizes.width ** 2)).toBeLessThan(0.02 * 0.3 ** 2);
    expect(fitted!.error).toBeLessThan(0.05);
  });

  test.each([
    [
      'twenty strikes in total',
      { strikes: range(91, 109, 2), expiries: { '2026-01-16': 1, '2026-01-30': 1 } },
      20,
      true,
    ],
    [
      'eighteen strikes in total',
      { strikes: range(91, 107, 2), expiries: { '2026-01-16': 1, '2026-01-30': 1 } },
      18,
      false,
    ],
    ['series of fewer than five strikes', { strikes: range(85, 115, 10) }, 0, false],
    ['only a series of three days', { expiries: { '2026-01-08': 1 } }, 0, false],
    ['only a series of half a year', { expiries: { '2026-07-17': 1 } }, 0, false],
    ['one series, whose strikes are thinned out', { expiries: { '2026-02-20': 1 } }, 16, false],
  ])('%s', (_what, overrides, points, isFitted) => {
    const found = jumpSizesOf(chainFrom(MODELS[0]!, overrides));
    expect(found.points).toBe(points);
    expect(found.fitted !== null).toBe(isFitted);
    if (!isFitted) expect(found.sizes).toEqual(DEFAULT_JUMP_SIZES);
  });
});

test('computes the sizes once per chain, and the same quotes give the same sizes', () => {
  const [first, second] = [chainFrom(MODELS[0]!), chainFrom(MODELS[0]!)];
  expect(jumpSizesOf(first)).toBe(jumpSizesOf(first));
  expect(jumpSizesOf(second)).toEqual(jumpSizesOf(first));
});

test('one absurd quote does not distort the result', () => {
  const rows = (absurd: number) =>
    ['2026-01-16', '2026-02-20'].flatMap((expiry) =>
      quoted({
        ...{ strikes: range(80, 120), expiry, halfSpread: 0.01 },
        iv: (strike) => (strike === 110 ? absurd : 0.3 - 0.3 * Math.log(strike / 100)),
      }),
    );
  const [clean, bent] = [0.3 - 0.3 * Math.log(1.1), 0.5].map((iv) => jumpSizesOf(prepared(rows(iv))).sizes);
  expect(Math.abs(bent!.mean - clean!.mean)).toBeLessThan(0.02);
  expect(Math.abs(bent!.width - clean!.width)).toBeLessThan(0.02);
});

describe('every simulated chain has sizes within their bounds', () => {
  test.each(SIMULATED)('%s', (ticker) => judge(jumpSizesOf(prepareChain(simulated(ticker), DEFAULT_OPTIONS))));
});

describeRecorded('within their bounds, of recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s', (name) => {
    const found = jumpSizesOf(prepareChain(recordedChain(dir, name), DEFAULT_OPTIONS));
    judge(found);
    expect(found.fitted).not.toBeNull();
  });
});

function judge({ sizes, fitted, points }: ReturnType<typeof jumpSizesOf>): void {
  expect(sizes.mean).toBeWithin(-0.2, 0.1 + 1e-12);
  expect(sizes.width).toBeWithin(1e-4, 0.2 + 1e-12);
  expect(points).toBeWithin(0, 65);
  if (!fitted) return;
  expect(points).toBeGreaterThanOrEqual(20);
  expect(fitted.intensity).toBeWithin(0.05, 60);
  expect(fitted.error).toBeWithin(0, 7);
}
