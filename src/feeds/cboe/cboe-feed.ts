import { runInTurns } from '../../core/steps.ts';
import type { Delivery, Feed } from '../../market/feed.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import { quotedChain } from '../files/delayed-quotes.ts';
import { baseUrl } from '../http/base-url.ts';
import { type ProviderSnapshot, pollIntervalMs, pollTickers } from '../http/poll-tickers.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { readQuotesIsolated } from '../reader/isolated-reader.ts';
import { unreadable } from '../rejections.ts';

/**
 * Creates the feed of delayed quotes of the exchange Cboe, a whole chain in one answer. The service is undocumented and without guarantee,
 * and its terms restrict automated use, so users need permission.
 */
export function createCboeFeed(options: ProviderOptions): Feed {
  const { tickers, ratePerMinute = RATE_PER_MINUTE, clock = SYSTEM_CLOCK } = options;
  const client = createProviderClient(
    baseUrl(options.baseUrl, '--cboe-url', 'http', false),
    {},
    ratePerMinute,
    options,
  );

  async function snapshotOf(ticker: string, signal: AbortSignal | undefined): Promise<ProviderSnapshot> {
    const name = isIndexRoot(ticker) ? `_${ticker}` : ticker;
    const answer = await client.getLarge(`/api/global/delayed_quotes/options/${encodeURIComponent(name)}.json`, signal);
    const source = `cboe:${ticker}`;
    const snapshot =
      'json' in answer
        ? await runInTurns('reading a chain', quotedChain(answer.json, source, ticker))
        : await firstChain(readQuotesIsolated(answer.body, source, ticker));
    if (snapshot === undefined) throw unreadable('the answer is unexpected, because `data.options` is missing');
    const { asOf } = snapshot.chain;
    if (asOf > clock.now() + AHEAD_MS_MAX)
      throw unreadable(`the quotes are dated ${new Date(asOf).toISOString()}, which is ahead of the clock`);
    return snapshot;
  }

  return {
    name: 'cboe',
    simulated: false,
    pace: { everyMs: pollIntervalMs(tickers.length, ratePerMinute, EVERY_MS), hours: 'session', delayMs: DELAY_MS },
    tickers,
    poll: (_nowMs, signal) => pollTickers('cboe', tickers, snapshotOf, signal),
  };
}

async function firstChain(deliveries: AsyncIterable<Delivery>): Promise<ProviderSnapshot | undefined> {
  for await (const delivery of deliveries) {
    if (delivery.kind === 'chain') return { chain: delivery.chain, offered: delivery.offered ?? delivery.chain.count };
  }
  return undefined;
}

/** Default maximum number of requests per minute. The exchange states none. A person who clicks every two seconds has the same rate. */
const RATE_PER_MINUTE = 30;
const EVERY_MS = 5 * 60_000;
/** Delay of the quotes: fifteen minutes, plus the time that the exchange takes for publication. */
const DELAY_MS = 16 * 60_000;
/** The maximum time by which delayed quotes may be ahead of the clock, ms. Quotes further ahead have a wrong date or a wrong time zone. */
const AHEAD_MS_MAX = 5 * 60_000;
