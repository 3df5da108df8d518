import { expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import { runToCompletion } from '../../src/core/steps.ts';

/** The benchmark chain must resemble the service's chains: it uses every method to find a forward and a volatility that quotes allow. */
const chain = indexChain(10, 60);
const { counts, series, weight } = runToCompletion(prepareChain(chain, DEFAULT_OPTIONS));

test('has the requested size, only live contracts, and is the same each time', () => {
  expect([chain.count, counts.used, series.length]).toEqual([1200, 1200, 10]);
  const again = indexChain(10, 60);
  for (const column of ['strike', 'bid', 'ask', 'iv', 'openInterest'] as const) {
    expect([...again[column]]).toEqual([...chain[column]]);
  }
});

test('most volatilities are solved, many are taken', () => {
  const { taken, solved } = counts.iv;
  expect(solved / chain.count).toBeGreaterThan(0.6);
  expect(taken / chain.count).toBeGreaterThan(0.08);
  expect(counts.left_out.no_volatility).toBe(0);
});

test('near series find their forward by parity, later ones by regression', () => {
  expect(new Set(series.map(({ forwardMethod }) => forwardMethod))).toEqual(new Set(['parity', 'regression']));
  expect(series[0]!.forwardMethod).toBe('parity');
});

test('some contracts have no open interest', () => {
  const none = weight.filter((each) => each === 0).length / chain.count;
  expect(none).toBeGreaterThan(0.2);
  expect(none).toBeLessThan(0.5);
});
