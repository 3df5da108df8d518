import { ClientError } from '../../core/errors.ts';
import { lastQuoted, settlementInstant } from '../../market/calendar.ts';
import type { Feed } from '../../market/feed.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { baseUrl } from '../http/base-url.ts';
import { type ProviderSnapshot, pollIntervalMs, pollTickers, snapshotFrom } from '../http/poll-tickers.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { unreadable } from '../rejections.ts';
import { expirationsOf, lastPriceOf, listedOptions, OptionCollector } from './answers.ts';

export interface TradierOptions extends ProviderOptions {
  readonly token: string;
}

/**
 * Creates the feed of Tradier. The feed requests the expirations of a ticker, and then the options of each expiration. If a request fails,
 * the whole snapshot is rejected, because the analysis would treat missing options as options without positions.
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
