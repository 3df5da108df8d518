import { Failure } from '../../errors.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Snapshot } from './snapshot.ts';

/** Asks for one ticker after the other; of each comes its snapshot whole, or a refusal with the reason. */
export async function* sweep(
  feed: string,
  tickers: readonly string[],
  snapshotOf: (ticker: string, signal: AbortSignal) => Promise<Snapshot>,
  signal: AbortSignal | undefined,
  snapshotMsMax = SNAPSHOT_MS_MAX,
): AsyncGenerator<Delivery> {
  for (const ticker of tickers) {
    if (signal?.aborted) return;
    let delivery: Delivery;
    const late = AbortSignal.timeout(snapshotMsMax);
    const either = signal ? AbortSignal.any([signal, late]) : late;
    try {
      delivery = { kind: 'chain', ...(await snapshotOf(ticker, either)) };
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof Failure || late.aborted)) throw error;
      const reason = error instanceof Failure ? error.message : `it took more than ${snapshotMsMax / 1_000} s`;
      delivery = { kind: 'refusal', origin: `${feed}:${ticker}`, reason, ticker };
    }
    yield delivery;
  }
}

/** Quotes of one snapshot must be of one time, as near as requests allow. */
const SNAPSHOT_MS_MAX = 600_000;

/** From one poll to the next, ms: as often as is worth while, but no sooner than the requests of one fit the rate. */
export function sweepEveryMs(requests: number, ratePerMinute: number, leastMs: number): number {
  return Math.max(leastMs, Math.ceil(requests / ratePerMinute) * 60_000);
}
