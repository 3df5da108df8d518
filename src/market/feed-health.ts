import { DAY_MS, isStale } from './calendar.ts';
import type { FeedState, TickerState } from './feed-ledger.ts';

/** The first that applies: no snapshot ever, none at the last attempt, old quotes, contracts are missing, or none of these. */
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

/** Maximum time from now to the next planned poll, ms. A weekend with adjacent holidays is shorter. */
const NEXT_MAX_MS = 7 * DAY_MS;
/** Maximum time by which a recorded event may be in the future, ms. Two readings of the clock may differ by as much. */
const EVENT_AHEAD_MS_MAX = 2_000;

/** Returns a moment of an event, or null if the moment is in the future. The clock was ahead then, or is behind now. */
export function knownMoment(moment: number | null, nowMs: number): number | null {
  return moment !== null && moment <= nowMs + EVENT_AHEAD_MS_MAX ? moment : null;
}

/** Returns whether the moments of a feed's polls are in the future. The clock was ahead when they were written, or is behind now. */
export function isClockOff({ nextAt, polledAt }: Pick<FeedState, 'nextAt' | 'polledAt'>, nowMs: number): boolean {
  return (nextAt ?? 0) - nowMs > NEXT_MAX_MS || knownMoment(polledAt, nowMs) !== polledAt;
}

/** A ticker is stale after this many times the median time between its snapshots. */
const STALE_GAPS = 10;
/** Number of times between snapshots from which the pace of a ticker is known. */
const GAPS_MIN = 3;
/** The shortest time after which a ticker is stale, ms of trading hours. */
const STALE_MS_MIN = 60_000;

/** Returns the time without a snapshot after which a ticker is stale, ms of trading hours: `staleAfterMs` until its pace is known. */
export function tickerStaleAfterMs({ gaps }: Pick<TickerState, 'gaps'>, staleAfterMs: number): number {
  if (gaps.length < GAPS_MIN) return staleAfterMs;
  const sorted = gaps.toSorted((a, b) => a - b);
  const median = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  return Math.min(staleAfterMs, Math.max(STALE_MS_MIN, STALE_GAPS * median));
}

/** Returns the health of a ticker. `staleAfterMs` is the setting, ms of trading hours. */
export function tickerHealth(state: TickerState, nowMs: number, staleAfterMs: number): TickerHealth {
  const { asOf, failures, expected, received } = state;
  if (asOf === null) return 'missing';
  if (failures > 0) return 'failing';
  if (isLate(state, nowMs, staleAfterMs)) return 'stale';
  return (received ?? 0) < WHOLE_SHARE_MIN * (expected ?? 0) ? 'partial' : 'fresh';
}

/** Returns whether the quotes of a ticker are older than `staleAfterMs`, or whether none newer arrived for longer than its pace allows. */
export function isLate(state: TickerState, nowMs: number, staleAfterMs: number): boolean {
  const { asOf, freshAt } = state;
  // The quotes of a delayed source are old when they arrive, so the pace is compared with the arrival.
  return [
    asOf !== null && isStale(asOf, nowMs, staleAfterMs),
    freshAt !== null && isStale(freshAt, nowMs, tickerStaleAfterMs(state, staleAfterMs)),
  ].some(Boolean);
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

/** Returns whether a poll is overdue or makes no progress. A poll in the future is overdue, because the clock was ahead. */
export function isOverdue(state: FeedState, nowMs: number): boolean {
  const { nextAt, polledAt, tickers } = state;
  if (isClockOff(state, nowMs)) return true;
  if (nextAt !== null) return nowMs > nextAt + OVERDUE_MS;
  const lastActivityAt = Math.max(polledAt ?? 0, ...tickers.map(({ attemptedAt }) => attemptedAt ?? 0));
  return lastActivityAt > 0 && nowMs > lastActivityAt + HUNG_MS;
}
