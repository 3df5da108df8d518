import { Failure } from '../../errors.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Snapshot } from './snapshot.ts';

/** Asks for one ticker after the other; of each comes its snapshot whole, or a refusal with the reason. */
export async function* sweep(
  feed: string,
  tickers: readonly string[],
  snapshotOf: (ticker: string) => Promise<Snapshot>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Delivery> {
  for (const ticker of tickers) {
    if (signal?.aborted) return;
    let delivery: Delivery;
    try {
      delivery = { kind: 'chain', ...(await snapshotOf(ticker)) };
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Failure)) throw error;
      delivery = { kind: 'refusal', origin: `${feed}:${ticker}`, reason: error.message, ticker };
    }
    yield delivery;
  }
}

/** From one poll to the next, ms: as often as is worth while, but no sooner than the requests of one fit the rate. */
export function sweepEveryMs(requests: number, ratePerMinute: number, leastMs: number): number {
  return Math.max(leastMs, Math.ceil(requests / ratePerMinute) * 60_000);
}
