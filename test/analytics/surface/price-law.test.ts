import { describe, expect, test } from 'bun:test';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { lawOfPower } from '../../../src/analytics/surface/rungs.ts';

/** A skewed law: three lognormals whose mean is 1. */
const SKEWED = new PriceLaw(
  Float64Array.of(0.8, 1, 1.075),
  Float64Array.of(0.15, 0.45, 0.4),
  Float64Array.of(0.12, 0.06, 0.04),
);
const STEP = 1e-4;

/** Density of the log-price: a sum of normal densities. */
function density({ nodes, masses, widths }: PriceLaw, x: number): number {
  return masses.reduce((sum, mass, i) => {
    const z = (x - Math.log(nodes[i]!)) / widths[i]! + widths[i]! / 2;
    return sum + (mass * Math.exp((-z * z) / 2)) / (widths[i]! * Math.sqrt(2 * Math.PI));
  }, 0);
}

/** Integrates a function of the log-price over the law's density, by the midpoint rule. */
function expected(law: PriceLaw, of: (x: number) => number): number {
  let sum = 0;
  for (let x = -2 + STEP / 2; x < 2; x += STEP) sum += STEP * density(law, x) * of(x);
  return sum;
}

describe.each([
  ['a mixture', SKEWED],
  ['its square root, scaled to mean 1', lawOfPower(SKEWED, 0.5)],
  ['its power of 1.3', lawOfPower(SKEWED, 1.3)],
])('%s', (_, law) => {
  test('has mass 1 and mean 1', () => {
    expect(expected(law, () => 1)).toBeCloseTo(1, 10);
    expect(expected(law, Math.exp)).toBeCloseTo(1, 10);
  });

  test.each([0.6, 0.9, 1, 1.1, 1.4])('prices and probabilities at %d are those of the density', (moneyness) => {
    const strike = Math.log(moneyness);
    for (const callPut of [1, -1]) {
      const paid = expected(law, (x) => Math.max(0, callPut * (Math.exp(x) - moneyness)));
      expect(law.price(callPut, moneyness)).toBeCloseTo(paid, 7);
    }
    expect(law.above(moneyness)).toBeCloseTo(
      expected(law, (x) => Number(x >= strike)),
      3,
    );
    expect(law.above(moneyness) + law.below(moneyness)).toBeCloseTo(1, 14);
    expect(moneyness * law.density(moneyness)).toBeCloseTo(density(law, strike), 12);
  });

  test('moments of the log-price are those of the density', () => {
    const { mean, variance, skewness, kurtosis } = law.logMoments();
    const central = (power: number) => expected(law, (x) => (x - mean) ** power);
    expect(expected(law, (x) => x)).toBeCloseTo(mean, 10);
    expect([variance, skewness, kurtosis]).toEqual([
      expect.closeTo(central(2), 10),
      expect.closeTo(central(3) / variance ** 1.5, 7),
      expect.closeTo(central(4) / variance ** 2, 7),
    ]);
  });
});

test('the total variance of one lognormal is its own at every strike', () => {
  const law = new PriceLaw(Float64Array.of(1), Float64Array.of(1), Float64Array.of(0.2));
  for (const x of [-0.9, -0.2, 0, 0.3, 1]) expect(law.totalVariance(x)).toBeCloseTo(0.04, 12);
});

test('a higher power costs at least as much at every strike', () => {
  const laws = [0.2, 0.5, 0.9, 1, 1.2, 2].map((power) => lawOfPower(SKEWED, power));
  for (let x = -1.5; x <= 1.5; x += 0.01) {
    const callPut = x < 0 ? -1 : 1;
    const prices = laws.map((law) => law.price(callPut, Math.exp(x)));
    for (let i = 1; i < prices.length; i++) expect(prices[i]!).toBeGreaterThanOrEqual(prices[i - 1]! * (1 - 1e-13));
  }
});
