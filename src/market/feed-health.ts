import { DAY_MS, isStale } from './calendar.ts';
import type { FeedState, TickerState } from './feed-ledger.ts';

/**
 * Health of one ticker of a feed. The health is the first of these values whose condition holds:
 * - `missing`: no snapshot has ever arrived.
 * - `failing`: the last attempt brought no snapshot.
 * - `stale`: the quotes are too old.
 * - `partial`: contracts are missing.
 * - `fresh`: no other condition holds.
 */
export type TickerHealth = 'missing' | 'failing' | 'stale' | 'partial' | 'fresh';

/**
 * Health of a feed. The health is the first of these values whose condition holds:
 * - `down`: the last poll ended with an error, the next poll is overdue, a running poll makes no progress, or every requested ticker fails.
 * - `empty`: no data has ever arrived, or no ticker has a snapshot.
 * - `degraded`: a ticker is not `fresh`, data was rejected, or the stream is disconnected.
 * - `ok`: no other condition holds.
 */
export type FeedHealth = 'empty' | 'down' | 'degraded' | 'ok';

/** A snapshot is partial if it has less than this share of the expected contracts. */
const WHOLE_SHARE_MIN = 0.9;
/** Maximum delay of a poll, ms. A longer delay means that the service was stopped or hangs. */
const OVERDUE_MS = 60_000;
/** A running poll hangs if no ticker completes within this time, ms. Even with all retries of all pages, a ticker takes less time. */
const HUNG_MS = 900_000;

/** Maximum time from now to the next planned poll, ms. No weekend with adjacent holidays is longer than this time. */
const AHEAD_MAX_MS = 7 * DAY_MS;

/** Returns whether a moment is too far in the future. If so, the clock was ahead earlier or is behind now. */
export function isClockOff(moment: number, nowMs: number): boolean {
  return moment - nowMs > AHEAD_MAX_MS;
}

/** Returns the health of a ticker. `staleAfterMs` counts trading hours only. */
export function tickerHealth(state: TickerState, nowMs: number, staleAfterMs: number): TickerHealth {
  const { asOf, failures, expected, received } = state;
  if (asOf === null) return 'missing';
  if (failures > 0) return 'failing';
  if (isStale(asOf, nowMs, staleAfterMs)) return 'stale';
  return (received ?? 0) < WHOLE_SHARE_MIN * (expected ?? 0) ? 'partial' : 'fresh';
}

/** Returns the health of a feed. */
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

/**
 * Returns whether the next poll is overdue, or a running poll makes no progress. A poll also counts as overdue if its moments are too far
 * in the future, because the clock was ahead when the moments were written.
 */
export function isOverdue({ nextAt, polledAt, tickers }: FeedState, nowMs: number): boolean {
  if (nextAt !== null) return nowMs > nextAt + OVERDUE_MS || isClockOff(nextAt, nowMs);
  const lastActivityAt = Math.max(polledAt ?? 0, ...tickers.map(({ attemptedAt }) => attemptedAt ?? 0));
  if (isClockOff(lastActivityAt, nowMs)) return true;
  return lastActivityAt > 0 && nowMs > lastActivityAt + HUNG_MS;
}
