import { openMsBetween } from './calendar.ts';
import type { FeedState, TickerState } from './feed-ledger.ts';

/**
 * Health of one ticker of a feed, by the worst condition that holds. `missing`: no snapshot has ever arrived. `failing`: the last attempt
 * brought nothing. `stale`: the quotes are too old. `partial`: contracts are missing. `fresh`: none of these.
 */
export type TickerHealth = 'missing' | 'failing' | 'stale' | 'partial' | 'fresh';

/**
 * Health of a feed. `down`: the feed is no longer polled, its source cannot be reached, or every ticker fails. `empty`: no data has ever
 * arrived. `degraded`: anything else is wrong. `ok`: nothing is wrong. A feed without data is never `ok`.
 */
export type FeedHealth = 'empty' | 'down' | 'degraded' | 'ok';

/** A snapshot with less than this share of the expected contracts is partial. */
const WHOLE_SHARE_MIN = 0.9;
/** A poll that is later than this will not come: the service has stopped, or hangs. */
const OVERDUE_MS = 60_000;
/** The longest time that one ticker takes, with every retry of every page. */
const HUNG_MS = 900_000;

/** The age of quotes counts trading hours only. Outside trading hours there are no newer quotes. */
export function tickerHealth(state: TickerState, nowMs: number, staleAfterMs: number): TickerHealth {
  const { asOf, failures, expected, received } = state;
  if (asOf === null) return 'missing';
  if (failures > 0) return 'failing';
  if (openMsBetween(asOf, nowMs, staleAfterMs) > staleAfterMs) return 'stale';
  return (received ?? 0) < WHOLE_SHARE_MIN * (expected ?? 0) ? 'partial' : 'fresh';
}

export function feedHealth(state: FeedState, nowMs: number, staleAfterMs: number): FeedHealth {
  const tickers = state.tickers.map((each) => tickerHealth(each, nowMs, staleAfterMs));
  const attempted = state.tickers.filter(({ attemptedAt }) => attemptedAt !== null);
  const failing = attempted.length > 0 && attempted.every(({ failures }) => failures > 0);
  if (state.error !== null || isOverdue(state, nowMs) || failing) return 'down';
  if (state.dataAt === null || (tickers.length > 0 && tickers.every((each) => each === 'missing'))) return 'empty';
  const isWhole =
    tickers.every((each) => each === 'fresh') && state.refusals.length === 0 && state.connection?.up !== false;
  return isWhole ? 'ok' : 'degraded';
}

/** Whether the next poll is overdue, or a running poll makes no progress. */
export function isOverdue({ nextAt, polledAt, tickers }: FeedState, nowMs: number): boolean {
  if (nextAt !== null) return nowMs > nextAt + OVERDUE_MS;
  const sign = Math.max(polledAt ?? 0, ...tickers.map(({ attemptedAt }) => attemptedAt ?? 0));
  return sign > 0 && nowMs > sign + HUNG_MS;
}
