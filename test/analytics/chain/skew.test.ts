import { describe, expect, test } from 'bun:test';
import type { PreparedSeries } from '../../../src/analytics/chain/prepared-chain.ts';
import { skew25 } from '../../../src/analytics/chain/skew.ts';
import { normalCdf } from '../../../src/math/normal.ts';

/** A series whose volatility at log-moneyness x is `iv`, at `count` strikes from -1 to 1. */
function series(iv: (x: number) => number, tte = 0.25, strikes = 2001): PreparedSeries {
  const logMoneyness = Float64Array.from({ length: strikes }, (_, i) => (2 * i) / (strikes - 1) - 1);
  const totalVariance = logMoneyness.map((x) => iv(x) ** 2 * tte);
  return { tte, smile: { logMoneyness, totalVariance } } as unknown as PreparedSeries;
}

describe('25-delta skew', () => {
  test('is 0 for a flat smile', () => {
    expect(skew25(series(() => 0.3))).toBeCloseTo(0, 12);
  });

  test('uses the strikes whose forward deltas are a quarter', () => {
    const [tte, slope] = [0.25, -0.2];
    const iv = (x: number) => 0.3 + slope * x;
    // The expected strikes are found independently, by going through the strikes.
    const delta = (x: number) => normalCdf((-x + (iv(x) ** 2 * tte) / 2) / (iv(x) * Math.sqrt(tte)));
    const walk = (wanted: number) => {
      let x = -1;
      while (delta(x) > wanted) x += 1e-6;
      return x;
    };
    const expected = iv(walk(0.75)) - iv(walk(0.25));
    expect(expected).toBeGreaterThan(0.03);
    expect(skew25(series(iv, tte))).toBeCloseTo(expected, 6);
  });

  test('is unknown without a volatility', () => {
    expect(skew25(series(() => 0.3, 0.25, 0))).toBeNaN();
  });

  test('is 0 for a smile of one strike', () => {
    const one = { tte: 0.1, smile: { logMoneyness: Float64Array.of(0.02), totalVariance: Float64Array.of(0.01) } };
    expect(skew25(one as unknown as PreparedSeries)).toBe(0);
  });
});
