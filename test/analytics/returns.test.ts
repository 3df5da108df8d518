import { describe, expect, test } from 'bun:test';
import { realisedVolatility, returnCorrelation } from '../../src/analytics/returns.ts';
import { addDays } from '../../src/market/calendar.ts';
import type { Close } from '../../src/market/prints.ts';

function closes(prices: readonly number[], from = '2026-01-05'): Close[] {
  return prices.map((close, i) => ({ ticker: 'ACME', date: addDays(from, i), close, volume: null, simulated: false }));
}

/** Prices with these log returns. */
function from(returns: readonly number[]): number[] {
  const prices = [100];
  for (const each of returns) prices.push(prices.at(-1)! * Math.exp(each));
  return prices;
}

describe('realised volatility', () => {
  test.each([
    ['of an alternating return', [0.01, -0.01, 0.01, -0.01], 4, 0.01 * Math.sqrt(252)],
    ['is about zero, not about the mean', [0.01, 0.01, 0.01, 0.01], 4, 0.01 * Math.sqrt(252)],
    ['uses only the last days', [0.5, 0.5, 0.02, -0.02], 2, 0.02 * Math.sqrt(252)],
    ['is the root mean square', [0.03, 0.04], 2, Math.sqrt((0.0009 + 0.0016) / 2) * Math.sqrt(252)],
    ['is 0 without moves', [0, 0, 0], 3, 0],
  ])('%s', (_what, returns, days, expected) => {
    expect(realisedVolatility(closes(from(returns)), days)).toBeCloseTo(expected, 12);
  });

  test.each([
    ['one return too few', 4, 4],
    ['one close', 1, 1],
    ['no closes', 0, 1],
  ])('%s: null', (_what, count, days) => {
    expect(realisedVolatility(closes(Array.from({ length: count }, () => 100)), days)).toBeNull();
  });
});

describe('correlation', () => {
  const x = [0.01, -0.02, 0.03, 0.005];
  const a = closes(from(x));

  test.each([
    ['with itself', x, 1],
    ['with twice itself plus a drift', x.map((each) => 2 * each + 0.01), 1],
    ['with its negative', x.map((each) => -each), -1],
    // The deviations of x from its mean 0.00625, against those of (1, 0, 0, -1).
    ['computed by hand', [0.01, 0, 0, -0.01], (0.00375 - -0.00125) / Math.sqrt(2 * 0.00126875)],
  ])('%s', (_what, y, expected) => {
    expect(returnCorrelation(a, closes(from(y)), 5)).toBeCloseTo(expected, 9);
  });

  test('uses only the days that both series have', () => {
    const b = a.filter((_, i) => i !== 2);
    expect(returnCorrelation(a, b, 4)).toBeCloseTo(1, 12);
    expect(returnCorrelation(a, b, 5)).toBeNull();
    expect(returnCorrelation(b, a, 5)).toBeNull();
  });

  test('is null without a common day or without variance', () => {
    expect(returnCorrelation(a, closes(from(x), '2027-01-01'), 1)).toBeNull();
    expect(returnCorrelation(a, closes([1, 1, 1, 1, 1]), 5)).toBeNull();
    expect(returnCorrelation([], [], 0)).toBeNull();
  });
});
