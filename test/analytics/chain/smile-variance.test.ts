import { describe, expect, test } from 'bun:test';
import { atmVolatility, varianceAt } from '../../../src/analytics/chain/smile-variance.ts';
import { contract, EXPIRY, prepared, quoted, range, yearsTo } from '../small-chains.ts';

const SMILE = {
  logMoneyness: Float64Array.of(-0.2, -0.1, 0, 0.3),
  totalVariance: Float64Array.of(0.08, 0.05, 0.04, 0.07),
};

test.each([
  ['flat before the first strike', -5, 0.08],
  ['at the first strike', -0.2, 0.08],
  ['half way', -0.15, 0.065],
  ['at an inner strike', -0.1, 0.05],
  ['a third of the way', 0.1, 0.05],
  ['at the last strike', 0.3, 0.07],
  ['flat beyond the last strike', 9, 0.07],
])('total variance %s', (_what, x, expected) => {
  expect(varianceAt(SMILE, x)).toBeCloseTo(expected, 15);
});

test('a smile of one strike is flat', () => {
  const one = { logMoneyness: Float64Array.of(0.1), totalVariance: Float64Array.of(0.04) };
  expect([-1, 0.1, 1].map((x) => varianceAt(one, x))).toEqual([0.04, 0.04, 0.04]);
});

describe('at the money', () => {
  test('interpolates between the strikes around the forward', () => {
    const [series] = prepared(quoted({ strikes: range(90, 110), iv: (strike) => (strike < 100.1 ? 0.3 : 0.2) })).series;
    const tte = yearsTo('ACME', EXPIRY);
    const at = Math.log(series!.forward / 100) / Math.log(101 / 100);
    expect(atmVolatility(series!)).toBeCloseTo(Math.sqrt(0.3 ** 2 + at * (0.2 ** 2 - 0.3 ** 2)), 6);
    expect(series!.tte).toBe(tte);
  });

  test('is NaN if no strike has a volatility', () => {
    expect(atmVolatility(prepared([contract()]).series[0]!)).toBeNaN();
  });
});
