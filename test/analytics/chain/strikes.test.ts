import { expect, test } from 'bun:test';
import { pairStrikes, type SeriesInput } from '../../../src/analytics/chain/strikes.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { chainOf, contract, EXPIRY, LATER } from '../small-chains.ts';

/** Strikes 95 (both sides), 100 (only a put) and 105 (both sides). The later expiry has 100 (both sides) and 110 (only a call). */
const chain = chainOf([
  contract({ strike: 95 }),
  contract({ strike: 95, callPut: -1 }),
  contract({ strike: 100, callPut: -1 }),
  contract({ strike: 105 }),
  contract({ strike: 105, callPut: -1 }),
  contract({ strike: 100, expiry: LATER }),
  contract({ strike: 100, callPut: -1, expiry: LATER }),
  contract({ strike: 110, expiry: LATER }),
]);
const [near, later] = chain.series;
const inputs = [
  { series: near!, start: 0, end: 5, tte: 0.1, forward: 100, rate: 0.04, dividend: 0.01 },
  { series: later!, start: 5, end: 8, tte: 0.2, forward: 101, rate: 0.05, dividend: 0.02 },
];

const strikesOf = (of: Chain, series: readonly SeriesInput[]) => runToCompletion(pairStrikes(of, series, ''));

test('returns one row per strike of a series, with the inputs of the series', () => {
  const strikes = strikesOf(chain, inputs);
  expect(strikes.count).toBe(5);
  expect([...strikes.strike]).toEqual([95, 100, 105, 100, 110]);
  expect([...strikes.seriesStart]).toEqual([0, 3, 5]);
  expect([...strikes.contracts]).toEqual([0, 2, 3, 5, 7, 8]);
  expect([...strikes.tte]).toEqual([0.1, 0.1, 0.1, 0.2, 0.2]);
  expect([...strikes.rate]).toEqual([0.04, 0.04, 0.04, 0.05, 0.05]);
  expect([...strikes.dividend]).toEqual([0.01, 0.01, 0.01, 0.02, 0.02]);
});

test('the out-of-the-money side is the call from the forward on; a side not listed has row -1', () => {
  const { callPut, otmRow } = strikesOf(chain, inputs);
  expect([...callPut]).toEqual([-1, 1, 1, -1, 1]);
  expect([...otmRow]).toEqual([1, -1, 3, 6, 7]);
});

test('if only some series are given, positions count only their contracts', () => {
  const { contracts, otmRow } = strikesOf(chain, [inputs[1]!]);
  expect([...contracts]).toEqual([0, 2, 3]);
  expect([...otmRow]).toEqual([6, 7]);
});

test('the same strike at the end of one series and the start of the next gives two rows', () => {
  const two = chainOf([contract({ strike: 100, expiry: EXPIRY }), contract({ strike: 100, expiry: LATER })]);
  const strikes = strikesOf(
    two,
    two.series.map((series) => ({ ...inputs[0]!, series })),
  );
  expect([...strikes.contracts]).toEqual([0, 1, 2]);
});
