import { ClientError } from '../../core/errors.ts';
import { isDate, lastQuoted, newYorkInstant, newYorkTime } from '../../market/calendar.ts';
import type { Feed } from '../../market/feed.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { type ProviderSnapshot, pollIntervalMs, pollTickers, snapshotFrom } from '../http/poll-tickers.ts';
import type { ProviderOptions } from '../http/provider-client.ts';
import { numberOf } from '../numbers.ts';
import { unreadable } from '../rejections.ts';
import { type ChainSources, collectContracts } from './collect-contracts.ts';
import { RATE_PER_MINUTE, Terminal } from './terminal.ts';

/** Creates the feed of ThetaData's local terminal, which has the newest quote and the open interest of each contract in two tables. */
export function createThetadataFeed(options: ProviderOptions): Feed {
  const { tickers, ratePerMinute = RATE_PER_MINUTE, clock = SYSTEM_CLOCK } = options;
  const terminal = new Terminal(options);

  async function snapshotOf(ticker: string, signal: AbortSignal | undefined): Promise<ProviderSnapshot> {
    const times = new NewestTime(clock.now() + AHEAD_MS_MAX);
    const sources = { ...SNAPSHOT, acceptsTime: (time: string) => times.add(time) };
    const contracts = await collectContracts(terminal, ticker, sources, signal);
    if (contracts === undefined)
      throw unreadable(
        'the terminal has no quotes. On days without trading, and from midnight to the open, it never has',
      );
    if (times.newestMs === undefined) throw unreadable('no quote has a time up to the present');
    // Index options are quoted after the close too. All other levels are those of the close.
    const asOf = Math.min(times.newestMs, lastQuoted(clock.now()));
    const spot = await spotOf(ticker, asOf, signal);
    return snapshotFrom('thetadata', ticker, asOf, contracts.unsettledAt(asOf, spot));
  }

  /** Returns the price of the underlying, or `undefined` without a price of the time of the quotes. The quotes then imply the spot. */
  async function spotOf(ticker: string, asOf: number, signal: AbortSignal | undefined): Promise<number | undefined> {
    const [path, column] = isIndexRoot(ticker) ? INDEX_PRICE : STOCK_PRICE;
    const address = `${path}?symbol=${encodeURIComponent(ticker)}`;
    let spot: number | undefined;
    try {
      await terminal.readTable(
        { address, columns: ['timestamp', column] },
        (row, at) => {
          const price = numberOf(row, at[column]!);
          const ageMs = Math.abs(instantOf(row.text(at.timestamp!)) - asOf);
          if (price > 0 && Number.isFinite(price) && ageMs <= PRICE_AGE_MS_MAX) spot = price;
        },
        signal,
      );
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
    }
    return spot;
  }

  return {
    name: 'thetadata',
    simulated: false,
    pace: {
      everyMs: pollIntervalMs(tickers.length * REQUESTS_PER_TICKER, ratePerMinute, EVERY_MS),
      hours: 'session',
      delayMs: 0,
    },
    tickers,
    poll: (_nowMs, signal) => pollTickers('thetadata', tickers, snapshotOf, signal),
  };
}

const SNAPSHOT: Omit<ChainSources, 'acceptsTime'> = {
  quotes: { path: '/v3/option/snapshot/quote', time: 'timestamp', values: { bid: 'bid', ask: 'ask' } },
  openInterest: { path: '/v3/option/snapshot/open_interest', values: { openInterest: 'open_interest' } },
  trades: { path: '/v3/option/snapshot/ohlc', values: { last: 'close', volume: 'volume' } },
};
const INDEX_PRICE = ['/v3/index/snapshot/price', 'price'] as const;
const STOCK_PRICE = ['/v3/stock/snapshot/ohlc', 'close'] as const;
/** Maximum difference of the time of a price from the time of the quotes, ms. Some plans delay the prices of stocks, but not the quotes. */
const PRICE_AGE_MS_MAX = 120_000;
/** Quotes, open interest, trades and the price of the underlying. An index has two roots. */
const REQUESTS_PER_TICKER = 4;
/** Default of `--feed-every`, ms: the interval between two polls. */
const EVERY_MS = 60_000;
/** Maximum time by which a quote may be ahead of the clock, ms. Times further ahead are damaged data. */
const AHEAD_MS_MAX = 60_000;

/** The newest of many times in New York up to a moment. Of such texts, the later one is also the greater text. */
class NewestTime {
  readonly #until: string;
  #newest = '';

  constructor(untilMs: number) {
    this.#until = newYorkTime(untilMs);
  }

  /** Takes a time. Always returns true, because a contract whose last quote has no time is still listed. */
  add(time: string): true {
    if (time > this.#newest && time <= this.#until && isTime(time)) this.#newest = time;
    return true;
  }

  get newestMs(): number | undefined {
    return this.#newest === '' ? undefined : instantOf(this.#newest);
  }
}

/** Returns the instant of a time in New York (`2026-11-20T12:00:00.123`), ms since the epoch, or NaN. */
function instantOf(text: string): number {
  return isTime(text) ? newYorkInstant(text.slice(0, 10), text.slice(11)) : Number.NaN;
}

function isTime(text: string): boolean {
  return TIME.test(text) && isDate(text.slice(0, 10));
}

const TIME = /^.{10}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/;
