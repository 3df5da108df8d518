import { openMsBetween } from './calendar.ts';
import type { FeedState, TickerState } from './feed-ledger.ts';

/**
 * How a ticker of a feed is, the worst that holds: it never came, the last attempt brought nothing, its quotes are older than they could
 * be, contracts are missing, or all is well.
 */
export type TickerHealth = 'missing' | 'failing' | 'stale' | 'partial' | 'fresh';

/**
 * How a feed is: nothing of it has ever come; it is no longer asked, cannot be reached or fails on every ticker; something is not
 * well; all is. A feed without data is never well.
 */
export type FeedHealth = 'empty' | 'down' | 'degraded' | 'ok';

/** Less than this share of the contracts that had to be there is a part of a snapshot. */
const WHOLE_SHARE_MIN = 0.9;
/** An ask that is later than this behind its time will not come: the service has ended, or hangs. */
const OVERDUE_MS = 60_000;
/** The longest that one ticker takes, with every retry of every page. */
const HUNG_MS = 900_000;

/** Quotes age while there are newer ones to be had: in trading hours. */
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

/** Whether the feed ought to have been asked by now and was not, or is being asked and nothing comes of it. */
export function isOverdue({ nextAt, polledAt, tickers }: FeedState, nowMs: number): boolean {
  if (nextAt !== null) return nowMs > nextAt + OVERDUE_MS;
  const sign = Math.max(polledAt ?? 0, ...tickers.map(({ attemptedAt }) => attemptedAt ?? 0));
  return sign > 0 && nowMs > sign + HUNG_MS;
}
