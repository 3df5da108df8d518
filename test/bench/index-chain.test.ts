import { expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';

/** What is timed has to be what the service meets: every route to a forward and a volatility that quotes allow. */
const chain = indexChain(10, 60);
const { counts, series, weight } = prepareChain(chain, DEFAULT_OPTIONS);

test('is of the size asked for, all of it live, and the same each time', () => {
  expect([chain.count, counts.used, series.length]).toEqual([1200, 1200, 10]);
  const again = indexChain(10, 60);
  for (const column of ['strike', 'bid', 'ask', 'iv', 'openInterest'] as const) {
    expect([...again[column]]).toEqual([...chain[column]]);
  }
});

test('most volatilities are taken, a good part is solved', () => {
  const { taken, solved } = counts.iv;
  expect(taken / chain.count).toBeGreaterThan(0.6);
  expect(solved / chain.count).toBeGreaterThan(0.15);
  expect(counts.left_out.no_volatility).toBe(0);
});

test('near series have their forward by parity, later ones by regression', () => {
  expect(new Set(series.map(({ forwardMethod }) => forwardMethod))).toEqual(new Set(['parity', 'regression']));
  expect(series[0]!.forwardMethod).toBe('parity');
});

test('of some contracts none is open', () => {
  const none = weight.filter((each) => each === 0).length / chain.count;
  expect(none).toBeGreaterThan(0.2);
  expect(none).toBeLessThan(0.5);
});
