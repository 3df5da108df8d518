import { ClientError } from '../../core/errors.ts';
import { entryOf, isRecord, type JsonRecord } from '../../core/json-shape.ts';
import { isDate, lastQuoted, settlementInstant } from '../../market/calendar.ts';
import type { ContractRow } from '../../market/contract-batch.ts';
import type { Feed } from '../../market/feed.ts';
import { parseCallPut } from '../../market/option-symbol.ts';
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

export interface TradierOptions extends ProviderOptions {
  readonly token: string;
}

/**
 * Creates the feed of Tradier: a request for the expirations of a ticker, and one for each. If one fails, the whole snapshot is rejected,
 * because missing options would count as options without positions.
 */
export function createTradierFeed(options: TradierOptions): Feed {
  const base = baseUrl(options.baseUrl, '--tradier-url', 'http', true);
  // The sandbox has half the rate limit, and its quotes are delayed.
  const isSandbox = new URL(base).hostname.startsWith('sandbox.');
  const { tickers, ratePerMinute = isSandbox ? 60 : 120, clock = SYSTEM_CLOCK } = options;
  const delayMs = isSandbox ? 15 * 60_000 : 0;
  const client = createProviderClient(base, { authorization: `Bearer ${options.token}` }, ratePerMinute, options);

  /** Returns the last price, or `undefined` if the request fails. If there is no last price, the spot is computed from the quotes. */
  async function priceOf(symbol: string, signal: AbortSignal | undefined): Promise<number | undefined> {
    try {
      return lastPriceOf(await client.get(`/v1/markets/quotes?symbols=${symbol}`, signal));
    } catch (error) {
      if (error instanceof ClientError) return undefined;
      throw error;
    }
  }

  async function snapshotOf(ticker: string, signal: AbortSignal | undefined): Promise<ProviderSnapshot> {
    const asOf = lastQuoted(clock.now() - delayMs);
    const symbol = encodeURIComponent(ticker.replace('.', '/'));
    const collected = new OptionCollector(await priceOf(symbol, signal));
    const listed = await client.get(`/v1/markets/options/expirations?symbol=${symbol}&includeAllRoots=true`, signal);
    // The code leaves out expirations that have settled. In the evening, today's expiration is still listed, but has no contracts.
    const expiries = expirationsOf(listed, collected).filter((expiry) => settlementInstant(expiry, 'PM') > asOf);
    if (expiries.length === 0) throw unreadable('every listed expiration has settled');
    for (const expiry of expiries) {
      const address = `/v1/markets/options/chains?symbol=${symbol}&expiration=${expiry}&greeks=true`;
      const contracts = listedOptions(await client.get(address, signal));
      if (contracts.length === 0) throw unreadable(`the provider has no options for the listed expiration ${expiry}`);
      collected.add(contracts, expiry);
    }
    return snapshotFrom('tradier', ticker, asOf, collected);
  }

  const requests = tickers.length * REQUESTS_PER_TICKER;
  return {
    name: 'tradier',
    simulated: false,
    pace: { everyMs: pollIntervalMs(requests, ratePerMinute, EVERY_MS), hours: 'session', delayMs },
    tickers,
    poll: (_nowMs, signal) => pollTickers('tradier', tickers, snapshotOf, signal),
  };
}

/** Estimated number of requests per ticker: one for the quote, one for the expirations, and some twenty for the options. */
const REQUESTS_PER_TICKER = 22;
/** Minimum time between two polls, ms. Tradier updates the Greeks only once an hour. */
const EVERY_MS = 60_000;

/** The options of one ticker, collected from several answers. Each answer is for one of the ticker's expirations. */
class OptionCollector implements CollectedContracts {
  readonly rows: ContractRow[] = [];
  readonly refused: Record<string, number> = {};
  offered = 0;

  constructor(readonly spot: number | undefined) {}

  /** Adds the options in the answer for one expiration. Counts unusable options in `refused`. */
  add(options: readonly unknown[], expiry: string): void {
    this.offered += options.length;
    for (const option of options) {
      if (!isRecord(option) || typeof option.root_symbol !== 'string') countRejected(this.refused, 'bad_symbol');
      else if ((option.expiration_date ?? expiry) !== expiry) countRejected(this.refused, 'other_expiry');
      else this.rows.push(contractOf(option, option.root_symbol, expiry));
    }
  }
}

/**
 * Returns the dates of `{expirations: {date: "2026-12-18" or [...]}}`, ascending. Counts invalid dates in `refused`. Throws a `ClientError`
 * without a date, and for more than EXPIRATIONS_MAX.
 */
function expirationsOf(answer: unknown, { refused }: OptionCollector): string[] {
  const dates: string[] = [];
  for (const date of listOf(entryOf(answer, 'expirations', 'date'))) {
    if (typeof date === 'string' && isDate(date)) dates.push(date);
    else countRejected(refused, 'bad_expiry');
  }
  if (dates.length === 0) throw unreadable('the provider lists no expirations: `expirations.date` has no date');
  if (dates.length > EXPIRATIONS_MAX) throw unreadable(`the provider lists more than ${EXPIRATIONS_MAX} expirations`);
  return [...new Set(dates)].sort();
}

/** Returns the options of `{options: {option: {...} or [...]}}`, none for null. Throws a `ClientError` without `options`. */
function listedOptions(answer: unknown): readonly unknown[] {
  if (!isRecord(answer) || !('options' in answer))
    throw unreadable('the answer is unexpected, because `options` is missing');
  return listOf(entryOf(answer, 'options', 'option'));
}

/** Returns the price in an answer of the form `{quotes: {quote: {last: 658.05}}}`, or `undefined` if the answer has no price. */
function lastPriceOf(answer: unknown): number | undefined {
  const [quote] = listOf(entryOf(answer, 'quotes', 'quote'));
  const last = jsonNumber(entryOf(quote, 'last'));
  return last > 0 && Number.isFinite(last) ? last : undefined;
}

/** Maximum number of expirations of a ticker. Each expiration takes a request. SPX has some sixty expirations. */
const EXPIRATIONS_MAX = 200;

/** Returns a list unchanged, and any other value as a list with one element. Returns an empty list for null or a missing value. */
function listOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function contractOf(option: JsonRecord, root: string, expiry: string): ContractRow {
  const greeks = isRecord(option.greeks) ? option.greeks : {};
  const midIv = jsonNumber(greeks.mid_iv);
  return {
    root,
    expiry,
    callPut: typeof option.option_type === 'string' ? (parseCallPut(option.option_type) ?? 0) : 0,
    strike: jsonNumber(option.strike),
    bid: jsonNumber(option.bid),
    ask: jsonNumber(option.ask),
    last: jsonNumber(option.last),
    volume: jsonNumber(option.volume),
    openInterest: jsonNumber(option.open_interest),
    // `mid_iv` is the implied volatility of the mid quote. Without `mid_iv`, the code uses Tradier's smoothed volatility.
    iv: midIv > 0 ? midIv : jsonNumber(greeks.smv_vol ?? greeks.mid_iv),
    delta: jsonNumber(greeks.delta),
    gamma: jsonNumber(greeks.gamma),
    multiplier: jsonNumber(option.contract_size),
  };
}
