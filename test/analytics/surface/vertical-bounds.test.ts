import { describe, expect, test } from 'bun:test';
import { lognormalLaw } from '../../../src/analytics/surface/price-law.ts';
import type { QuoteBands } from '../../../src/analytics/surface/slice-model.ts';
import { verticalBounds } from '../../../src/analytics/surface/vertical-bounds.ts';

const LAW = lognormalLaw(0.04);
const STRIKES = [0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.4];

/** Quotes of the lognormal law out of the money, with a half-width. */
function quotes(strikes: readonly number[], halfWidth: number): QuoteBands {
  const callPut = Float64Array.from(strikes, (strike) => (strike >= 1 ? 1 : -1));
  return {
    callPut,
    moneyness: Float64Array.from(strikes),
    price: callPut.map((side, i) => LAW.price(side, strikes[i]!)),
    halfWidth: new Float64Array(strikes.length).fill(halfWidth),
  };
}

/** Every pair of strikes, by the definition. */
function bruteForce(strikes: readonly number[], halfWidth: number, strike: number) {
  const call = (each: number) => LAW.price(1, each);
  let [low, high] = [0, 1];
  for (const lower of strikes) {
    for (const upper of strikes) {
      if (lower >= upper) continue;
      const spread = call(lower) - call(upper);
      if (upper <= strike) high = Math.min(high, (spread + 2 * halfWidth) / (upper - lower));
      if (lower >= strike) low = Math.max(low, (spread - 2 * halfWidth) / (upper - lower));
    }
  }
  return { low, high };
}

describe('verticalBounds', () => {
  test.each([0.72, 0.9, 0.97, 1, 1.02, 1.2, 1.3])(
    'at %d: those of the best pair, and the law is between them',
    (strike) => {
      for (const halfWidth of [0, 1e-4, 2e-3]) {
        const { low, high } = verticalBounds(quotes(STRIKES, halfWidth), strike);
        const expected = bruteForce(STRIKES, halfWidth, strike);
        expect(low).toBeCloseTo(expected.low, 12);
        expect(high).toBeCloseTo(expected.high, 12);
        expect(LAW.above(strike)).toBeWithin(low, high + 1e-12);
      }
    },
  );

  test.each([0.5, 1.6])('beyond all strikes at %d, one side is open', (strike) => {
    const { low, high } = verticalBounds(quotes(STRIKES, 1e-4), strike);
    if (strike < 1) expect(high).toBe(1);
    else expect(low).toBe(0);
    expect(LAW.above(strike)).toBeWithin(low, high + 1e-12);
  });

  test('of one strike quoted by two series, no pair is formed', () => {
    expect(verticalBounds(quotes([1.1, 1.1], 1e-4), 1.05)).toEqual({ low: 0, high: 1 });
  });
});
