import { isDate, lastQuoted, newYorkInstant, newYorkTime } from '../../market/calendar.ts';
import type { Feed } from '../../market/feed.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { type ProviderSnapshot, pollIntervalMs, pollTickers } from '../http/poll-tickers.ts';
import type { ProviderOptions } from '../http/provider-client.ts';
import { unreadable } from '../rejections.ts';
import { type ChainTables, ignoreClientError, joinTables } from './join-tables.ts';
import { createTerminal, RATE_PER_MINUTE } from './terminal.ts';

/** Creates the feed of ThetaData's local terminal, which has the newest quote and the open interest of each contract in two tables. */
export function createThetadataFeed(options: ProviderOptions): Feed {
  const { tickers, ratePerMinute = RATE_PER_MINUTE, clock = SYSTEM_CLOCK } = options;
  const readTable = createTerminal(options);

  async function snapshotOf(ticker: string, signal: AbortSignal): Promise<ProviderSnapshot> {
    const until = newYorkTime(clock.now() + AHEAD_MS_MAX);
    const headOf = async (times: readonly string[]) => {
      // Of two times in this form, the later one is also the greater text.
      const newest = times
        .filter((time) => time <= until && isTime(time))
        .sort()
        .at(-1);
      if (newest === undefined) throw unreadable('no quote has a time up to the present');
      // Index options are quoted after the close too, but the service answers with the levels of the close.
      const asOf = Math.min(instantOf(newest), lastQuoted(clock.now()));
      return { asOf, spot: await spotOf(ticker, asOf, signal) };
    };
    const snapshot = await joinTables(readTable, ticker, SNAPSHOT, headOf, signal);
    if (snapshot) return snapshot;
    throw unreadable('the terminal has no quotes, as on days without trading, and from midnight to the open');
  }

  /** Returns the price of the underlying, or `undefined` if there is none of the time of the quotes, or if the request fails. */
  async function spotOf(ticker: string, asOf: number, signal: AbortSignal): Promise<number | undefined> {
    const [path, column] = isIndexRoot(ticker) ? INDEX_PRICE : STOCK_PRICE;
    let spot: number | undefined;
    await readTable(
      `${path}?symbol=${ticker}`,
      (row) => {
        const price = row.number(column);
        const isOfQuotes = Math.abs(instantOf(row.text('timestamp')) - asOf) <= PRICE_AGE_MS_MAX;
        if (price > 0 && Number.isFinite(price) && isOfQuotes) spot = price;
      },
      signal,
    ).catch(ignoreClientError);
    return spot;
  }

  const everyMs = pollIntervalMs(tickers.length * REQUESTS_PER_TICKER, ratePerMinute, EVERY_MS);
  return {
    name: 'thetadata',
    simulated: false,
    pace: { everyMs, hours: 'session', delayMs: 0 },
    tickers,
    poll: (_nowMs, signal) => pollTickers('thetadata', tickers, snapshotOf, signal),
  };
}

const SNAPSHOT: ChainTables = {
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

/** Returns the instant of a time in New York (`2026-11-20T12:00:00.123`), ms since the epoch, or NaN. */
function instantOf(text: string): number {
  return isTime(text) ? newYorkInstant(text.slice(0, 10), text.slice(11)) : Number.NaN;
}

function isTime(text: string): boolean {
  return TIME.test(text) && isDate(text.slice(0, 10));
}

const TIME = /^.{10}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/;
