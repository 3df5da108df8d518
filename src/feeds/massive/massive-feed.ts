import { entryOf, isRecord, type JsonRecord } from '../../core/json-shape.ts';
import { CONTRACTS_MAX } from '../../market/build-chain.ts';
import { lastQuoted } from '../../market/calendar.ts';
import type { ContractRow } from '../../market/contract-batch.ts';
import type { Feed } from '../../market/feed.ts';
import { isIndexRoot, parseOptionSymbol } from '../../market/option-symbol.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { baseUrl } from '../http/base-url.ts';
import {
  type CollectedContracts,
  type ProviderSnapshot,
  pollIntervalMs,
  pollTickers,
  snapshotFrom,
} from '../http/poll-tickers.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { jsonNumber } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { instantMs, tradeStream } from './trade-stream.ts';

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

/** Default of `--feed-rate`, requests per minute: those of a client that sends one after the other. Paid plans have no limit. */
const RATE_PER_MINUTE = 600;
/** Number of contracts on a page, the maximum that Massive allows. */
const PAGE_CONTRACTS = 250;
/** Maximum number of pages of a snapshot, five times the number of pages of the largest chain. */
const PAGES_MAX = 600;
/** Estimated number of pages of a ticker. */
const PAGES_PER_TICKER = 15;
/** Default of `--feed-every`, ms: the interval between two polls. The default is longer if the requests of one poll take longer. */
const EVERY_MS = 60_000;
/** Maximum time by which a time in a page may be ahead of the clock, ms. Times further ahead are damaged data. */
const AHEAD_MS_MAX = 60_000;

/** The contracts of one underlying, collected from the pages of its snapshot. */
class PageCollector implements CollectedContracts {
  readonly rows: ContractRow[] = [];
  readonly refused: Record<string, number> = {};
  offered = 0;
  spot: number | undefined;
  /** The newest time of a quote or the underlying up to `untilMs`, ms since the epoch, if there is one. */
  newestMs: number | undefined;

  constructor(private readonly untilMs: number) {}

  /** Adds a page. Returns the next address, if any. Throws a `ClientError` without a page, and beyond CONTRACTS_MAX contracts. */
  add(page: unknown): string | undefined {
    const results = entryOf(page, 'results');
    if (!Array.isArray(results)) throw unreadable('the answer is unexpected, because `results` is missing');
    this.offered += results.length;
    if (this.offered > CONTRACTS_MAX) throw unreadable(`the pages have more than ${CONTRACTS_MAX} contracts`);
    for (const result of results) this.#addContract(result);
    const next = entryOf(page, 'next_url') ?? '';
    if (typeof next !== 'string') throw unreadable('`next_url` is not an address');
    return next === '' ? undefined : next;
  }

  #addContract(result: unknown): void {
    const ticker = entryOf(result, 'details', 'ticker');
    const symbol = typeof ticker === 'string' ? parseOptionSymbol(ticker) : undefined;
    if (symbol === undefined || !isRecord(result)) {
      countRejected(this.refused, 'bad_symbol');
      return;
    }
    const price = jsonNumber(
      entryOf(result, 'underlying_asset', 'price') ?? entryOf(result, 'underlying_asset', 'value'),
    );
    if (price > 0 && Number.isFinite(price)) this.spot = price;
    for (const field of ['last_quote', 'underlying_asset']) {
      const at = instantMs(entryOf(result, field, 'last_updated'));
      if (at <= this.untilMs) this.newestMs = Math.max(at, this.newestMs ?? at);
    }
    const { root, expiry, callPut, strike } = symbol;
    this.rows.push({ root, expiry, callPut, strike, ...valuesOf(result) });
  }
}

function valuesOf(result: JsonRecord) {
  return {
    bid: jsonNumber(entryOf(result, 'last_quote', 'bid')),
    ask: jsonNumber(entryOf(result, 'last_quote', 'ask')),
    last: jsonNumber(entryOf(result, 'last_trade', 'price')),
    volume: jsonNumber(entryOf(result, 'day', 'volume')),
    openInterest: jsonNumber(result.open_interest),
    iv: jsonNumber(result.implied_volatility),
    delta: jsonNumber(entryOf(result, 'greeks', 'delta')),
    gamma: jsonNumber(entryOf(result, 'greeks', 'gamma')),
    multiplier: jsonNumber(entryOf(result, 'details', 'shares_per_contract')),
  };
}
