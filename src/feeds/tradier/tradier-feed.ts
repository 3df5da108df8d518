import { buildChain } from '../../market/build-chain.ts';
import { lastQuoted, settlementInstant } from '../../market/calendar.ts';
import type { Feed } from '../../market/feed.ts';
import { unreadable } from '../files/format.ts';
import { baseUrl } from '../http/base-url.ts';
import { SYSTEM_CLOCK } from '../http/clock.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { type Snapshot, sweep, sweepEveryMs } from '../http/sweep.ts';
import { spotOf } from '../implied-spot.ts';
import { expirationsOf, lastPriceOf, listedOptions, ReadOptions } from './answers.ts';

export interface TradierOptions extends ProviderOptions {
  readonly token: string;
}

/**
 * Tradier's chains: the expirations of a ticker, then a request for each. A snapshot is made of all of them or refused: one that fails
 * would leave a hole that looks like a market without interest there.
 */
export function createTradierFeed(options: TradierOptions): Feed {
  const base = baseUrl(options.baseUrl, '--tradier-url', 'http', true);
  // The sandbox has half the rate, and delayed quotes.
  const isSandbox = new URL(base).hostname.startsWith('sandbox.');
  const { tickers, ratePerMinute = isSandbox ? 60 : 120, clock = SYSTEM_CLOCK } = options;
  const delayMs = isSandbox ? 15 * 60_000 : 0;
  const client = createProviderClient(base, { authorization: `Bearer ${options.token}` }, ratePerMinute, options);

  async function snapshotOf(ticker: string, signal: AbortSignal | undefined): Promise<Snapshot> {
    const asOf = lastQuoted(clock.now() - delayMs);
    const symbol = encodeURIComponent(ticker.replace('.', '/'));
    const price = await client.get(`/v1/markets/quotes?symbols=${symbol}`, signal).then(lastPriceOf, () => undefined);
    signal?.throwIfAborted();
    const listed = await client.get(`/v1/markets/options/expirations?symbol=${symbol}&includeAllRoots=true`, signal);
    const read = new ReadOptions();
    for (const expiry of expirationsOf(listed, read)) {
      // In the evening today's are listed still, without any contract.
      if (settlementInstant(expiry, 'PM') <= asOf) continue;
      const address = `/v1/markets/options/chains?symbol=${symbol}&expiration=${expiry}&greeks=true`;
      const options = listedOptions(await client.get(address, signal));
      if (options.length === 0) throw unreadable(`no options for ${expiry}, which is listed`);
      read.add(options, expiry);
    }
    const { rows, refused, offered } = read;
    const head = { underlying: ticker, asOf, source: `tradier:${ticker}`, simulated: false, refused };
    return { chain: buildChain({ ...head, spot: spotOf(price, rows, asOf) }, rows), offered };
  }

  const requests = tickers.length * REQUESTS_PER_TICKER;
  return {
    name: 'tradier',
    simulated: false,
    pace: { everyMs: sweepEveryMs(requests, ratePerMinute, EVERY_MS), hours: 'session', delayMs },
    tickers,
    poll: (_nowMs, signal) => sweep('tradier', tickers, (ticker) => snapshotOf(ticker, signal), signal),
  };
}

/** A quote, the expirations, and some twenty of them. */
const REQUESTS_PER_TICKER = 22;
/** Greeks are an hour old anyway. */
const EVERY_MS = 60_000;
