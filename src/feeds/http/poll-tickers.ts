import { ClientError } from '../../core/errors.ts';
import type { Delivery } from '../../market/feed.ts';
import type { ProviderSnapshot } from './provider-snapshot.ts';

/**
 * Polls the tickers one after the other. For each ticker, yields its whole snapshot, or a rejection with the reason. The origin of the
 * rejection names the feed and the ticker, such as `cboe:SPY`.
 */
export async function* pollTickers(
  feed: string,
  tickers: readonly string[],
  snapshotOf: (ticker: string, signal: AbortSignal) => Promise<ProviderSnapshot>,
  signal: AbortSignal | undefined,
  snapshotMsMax = SNAPSHOT_MS_MAX,
): AsyncGenerator<Delivery> {
  for (const ticker of tickers) {
    if (signal?.aborted) return;
    let delivery: Delivery;
    const timeout = AbortSignal.timeout(snapshotMsMax);
    const signalOrTimeout = signal ? AbortSignal.any([signal, timeout]) : timeout;
    try {
      delivery = { kind: 'chain', ...(await snapshotOf(ticker, signalOrTimeout)) };
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ClientError || timeout.aborted)) throw error;
      const reason =
        error instanceof ClientError ? error.message : `a snapshot took more than ${snapshotMsMax / 1_000} s`;
      delivery = { kind: 'rejection', origin: `${feed}:${ticker}`, reason, ticker };
    }
    yield delivery;
  }
}

/** Maximum duration of the requests for one snapshot. The quotes of a snapshot must be as close in time as requests allow. */
const SNAPSHOT_MS_MAX = 600_000;

/**
 * Returns the interval between two polls, ms. The interval is `leastMs`, or longer if the requests of one poll take longer at this rate.
 */
export function pollIntervalMs(requests: number, ratePerMinute: number, leastMs: number): number {
  return Math.max(leastMs, Math.ceil(requests / ratePerMinute) * 60_000);
}
