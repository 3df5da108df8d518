import { expect, test } from 'bun:test';
import { pollTickers } from '../../../src/feeds/http/poll-tickers.ts';
import type { Delivery } from '../../../src/market/feed.ts';

test('refuses a snapshot that takes too long, and continues with the next ticker', async () => {
  const requested: string[] = [];
  const never = (ticker: string, signal: AbortSignal) => {
    requested.push(ticker);
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const rejection = (ticker: string): Delivery => ({
    ...{ kind: 'rejection', origin: `test:${ticker}`, reason: 'a snapshot took more than 0.001 s', ticker },
  });
  expect(await Array.fromAsync(pollTickers('test', ['A', 'B'], never, undefined, 1))).toEqual([
    rejection('A'),
    rejection('B'),
  ]);
  expect(requested).toEqual(['A', 'B']);
});

test('a stop ends the snapshot in progress and is not a rejection', async () => {
  const stop = new AbortController();
  const deliveries = pollTickers(
    'test',
    ['A', 'B'],
    (_, signal) => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    stop.signal,
  );
  const all = Array.fromAsync(deliveries);
  stop.abort();
  expect(await all).toEqual([]);
});
