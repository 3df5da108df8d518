import { expect, test } from 'bun:test';
import { createLoading, marketWhileLoading } from '../../../src/operations/engine/loading.ts';
import { chainOf, quoted, range } from '../../analytics/small-chains.ts';
import { smallMarket } from '../small-market.ts';

const { market } = smallMarket({
  chains: [{ ...chainOf(quoted({ strikes: range(95, 105) })), underlying: 'SPY' }],
}).context;

test.each([
  ['SPY', 'SPY', 'SPY'],
  ['of the universe without a chain', 'QQQ', 'no_chain'],
  ['unknown', 'NOSUCH', 'unknown_ticker'],
])('a ticker %s', async (_name, ticker, after) => {
  const loaded = Promise.withResolvers<void>();
  const loading = createLoading();
  const during = marketWhileLoading(market, loading);
  const answer = () => {
    try {
      return during.chain(ticker).underlying;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(answer()).toBe(after);
  loading.begin(loaded.promise);
  // While loading, any chain may still arrive. A chain that is already stored is served.
  expect([loading.isComplete, answer()]).toEqual([false, after === 'SPY' ? 'SPY' : 'loading']);
  if (after !== 'SPY')
    expect(() => during.chain(ticker)).toThrow(expect.objectContaining({ status: 503, retryAfterS: 1 }));
  loaded.resolve();
  await loading.waitUntilComplete(60_000);
  expect([loading.isComplete, answer()]).toEqual([true, after]);
});

test('waitUntilComplete() waits until the load ends or the timeout passes', async () => {
  const loading = createLoading();
  await loading.waitUntilComplete(60_000);
  const loaded = Promise.withResolvers<void>();
  loading.begin(loaded.promise);
  await loading.waitUntilComplete(1);
  expect(loading.isComplete).toBe(false);
  const wait = loading.waitUntilComplete(60_000);
  loaded.resolve();
  await wait;
  expect(loading.isComplete).toBe(true);
});
