import { describe, expect, test } from 'bun:test';
import {
  concentratedStrikes,
  expiringGamma,
  seriesNearest,
} from '../../../src/analytics/exposure/gamma-concentration.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { contract, EXPIRY, FEED_GAMMA, LATER, prepared, TODAY } from '../small-chains.ts';

/** Percent. */
const gammaConcentration = (...of: Parameters<typeof concentratedStrikes>) =>
  100 * runToCompletion(concentratedStrikes(...of)).reduce((sum, { share }) => sum + share, 0);

/** Days from the snapshot to the expiries: 0, 1, 11 and 46. */
const TOMORROW = '2026-01-06';

describe('the series nearest a number of days', () => {
  const open = { iv: 0.3, openInterest: 1 };
  const at = (expiry: string, overrides = {}) => contract({ expiry, ...open, ...overrides });
  const none = Number.NaN;

  test.each([
    ['an exact match', [at(TODAY), at(EXPIRY), at(LATER)], 11, EXPIRY],
    ['before the first expiry', [at(EXPIRY), at(LATER)], 0, EXPIRY],
    ['beyond the last expiry', [at(EXPIRY), at(LATER)], 999, LATER],
    ['28 days is nearer to 11', [at(EXPIRY), at(LATER)], 28, EXPIRY],
    ['29 days is nearer to 46', [at(EXPIRY), at(LATER)], 29, LATER],
    ['the earlier on a tie', [at(TOMORROW), at(EXPIRY)], 6, TOMORROW],
    ['skips a series without open interest', [at(EXPIRY, { openInterest: 0 }), at(LATER)], 11, LATER],
    [
      'unless no series has open interest',
      [at(EXPIRY, { openInterest: 0 }), at(LATER, { openInterest: none })],
      11,
      EXPIRY,
    ],
    ['skips a series without a volatility', [at(EXPIRY, { iv: none }), at(LATER)], 11, LATER],
    ['undefined if no series has a volatility', [at(EXPIRY, { iv: none })], 11, undefined],
  ])('%s', (_what, rows, days, expected) => {
    const ready = prepared(rows, { forward: 'flat', rate: 0 });
    expect(seriesNearest(ready, days)?.series.expiry).toBe(expected!);
  });

  test('of two series on one date the one that settles earlier', () => {
    const twins = ['SPXW', 'SPX'].map((root) => at(EXPIRY, { root }));
    const ready = prepared(twins, { forward: 'flat', rate: 0 }, { underlying: 'SPX' });
    expect(seriesNearest(ready, 11)?.series.root).toBe('SPX');
  });
});

describe('the share of the five largest strikes', () => {
  const strike = (strike: number, gamma: number, overrides = {}) =>
    contract({ strike, gamma, openInterest: 1, ...overrides });

  test.each([
    ['of six equal strikes', [1, 2, 3, 4, 5, 6].map((i) => strike(i, 0.01)), 500 / 6],
    [
      'calls and puts of a strike count together',
      [1, 2, 3, 4, 5, 6].flatMap((i) => [strike(i, 0.01), strike(i, 0.01, { callPut: -1 })]),
      500 / 6,
    ],
    ['of unequal strikes', [9, 1, 9, 9, 9, 4, 9].map((each, i) => strike(100 + i, each / 100)), 4500 / 50],
    ['of fewer than five strikes', [strike(1, 0.01), strike(2, 0.05)], 100],
    ['of no weighted strike', [strike(1, 0.01, { openInterest: 0 })], 0],
  ])('%s', (_what, rows, expected) => {
    expect(gammaConcentration(prepared(rows, FEED_GAMMA))).toBeCloseTo(expected, 9);
  });

  test('names the strikes, largest first', () => {
    const rows = [3, 1, 5, 2].map((each, i) => strike(100 + i, each / 100));
    expect(
      runToCompletion(concentratedStrikes(prepared(rows, FEED_GAMMA))).map(({ strike: i, share }) => [
        i,
        Math.round(1100 * share),
      ]),
    ).toEqual([
      [102, 500],
      [100, 300],
      [103, 200],
      [101, 100],
    ]);
  });

  test('for one series or for all', () => {
    const later = [1, 2, 3, 4, 5, 6].map((i) => strike(i, 0.01, { expiry: LATER }));
    const ready = prepared([strike(1, 0.02), ...later], FEED_GAMMA);
    const shares = [...ready.series.map((series) => gammaConcentration(ready, series)), gammaConcentration(ready)];
    [100, 500 / 6, 700 / 8].forEach((expected, i) => {
      expect(shares[i]).toBeCloseTo(expected, 9);
    });
  });
});

test('gamma that settles within a day counts in absolute value', () => {
  const rows = [
    contract({ expiry: TODAY, gamma: 0.02, openInterest: 3 }),
    contract({ expiry: TODAY, gamma: 0.02, openInterest: 4, callPut: -1 }),
    contract({ expiry: TOMORROW, gamma: 0.02, openInterest: 50 }),
  ];
  // Tomorrow's close is a day and an hour away.
  expect(expiringGamma(prepared(rows, FEED_GAMMA))).toBeCloseTo(0.02 * 7 * 100 * 100, 6);
});
