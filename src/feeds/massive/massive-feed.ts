import { lastQuoted } from '../../market/calendar.ts';
import type { Feed } from '../../market/feed.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { baseUrl } from '../http/base-url.ts';
import { type ProviderSnapshot, pollIntervalMs, pollTickers, snapshotFrom } from '../http/poll-tickers.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { unreadable } from '../rejections.ts';
import { PageCollector } from './page-collector.ts';
import { tradeStream } from './trade-stream.ts';

export interface MassiveOptions extends ProviderOptions {
  readonly key: string;
  readonly socketUrl: string;
  /** The connection ends after this time without data and without an answer to a ping, ms. */
  readonly silenceMs?: number;
}

/** Creates the feed of Massive (formerly Polygon). The feed polls the snapshot of each chain page by page, and streams live trades. */
export function createMassiveFeed(options: MassiveOptions): Feed {
  const base = baseUrl(options.baseUrl, '--massive-url', 'http', true);
  const socketUrl = baseUrl(options.socketUrl, '--massive-socket-url', 'ws', true);
  const { key, tickers, ratePerMinute = RATE_PER_MINUTE, clock = SYSTEM_CLOCK } = options;
  const client = createProviderClient(base, { authorization: `Bearer ${key}` }, ratePerMinute, options);

  async function snapshotOf(ticker: string, signal: AbortSignal | undefined): Promise<ProviderSnapshot> {
    const began = clock.now();
    const name = isIndexRoot(ticker) ? `I:${ticker}` : ticker;
    const collected = new PageCollector(began + AHEAD_MS_MAX);
    const requested = new Set<string>();
    let next: string | undefined = `/v3/snapshot/options/${encodeURIComponent(name)}?limit=${PAGE_CONTRACTS}`;
    while (next !== undefined) {
      if (requested.has(next)) throw unreadable(`page ${requested.size} leads back to an earlier page`);
      if (requested.size === PAGES_MAX) throw unreadable(`the snapshot has more than ${PAGES_MAX} pages`);
      requested.add(next);
      next = collected.add(await client.get(next, signal));
    }
    // After the close, the underlying still trades, but its options do not trade. So the time of the quotes is not later than the close.
    const asOf = Math.min(collected.newestMs ?? began, lastQuoted(clock.now()));
    return snapshotFrom('massive', ticker, asOf, collected);
  }

  const requests = tickers.length * PAGES_PER_TICKER;
  return {
    name: 'massive',
    simulated: false,
    pace: { everyMs: pollIntervalMs(requests, ratePerMinute, EVERY_MS), hours: 'session', delayMs: 0 },
    tickers,
    poll: (_nowMs, signal) => pollTickers('massive', tickers, snapshotOf, signal),
    stream: (signal) => tradeStream({ url: socketUrl, key, tickers, clock, silenceMs: options.silenceMs }, signal),
  };
}

/**
 * Default of `--feed-rate`: maximum number of requests per minute. Massive's paid plans have no limit. Requests that are sent one after the
 * other reach a rate of ten per second.
 */
const RATE_PER_MINUTE = 600;
/** Number of contracts on a page, the maximum that Massive allows. */
const PAGE_CONTRACTS = 250;
/** Maximum number of pages of a snapshot, five times the number of pages of the largest chain. */
const PAGES_MAX = 600;
/** Estimated number of pages of a ticker. */
const PAGES_PER_TICKER = 15;
/** Default of `--feed-every`, ms: the interval between two polls. The default is longer if the requests of one poll take longer. */
const EVERY_MS = 60_000;
/**
 * Maximum time by which a time in a page may be ahead of the clock, ms, because clocks may differ. Times further ahead are damaged data.
 */
const AHEAD_MS_MAX = 60_000;
