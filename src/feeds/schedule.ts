import { closeOf, isTradingDay, newYorkDate, nextTradingDay, openOf, previousTradingDay } from '../market/calendar.ts';
import type { Pace } from '../market/feed.ts';

/** Options on indices and their funds trade for so long after the close; what others quote settles meanwhile. */
const AFTER_CLOSE_MS = 15 * 60_000;

/**
 * When a source is to be asked next, ms since the epoch, given when it was asked last: at once where it never was.
 *
 * In trading hours alone, that is from the opening on at its interval, and a last time when the closing quotes are out, all of it later by the
 * source's own delay. A service that starts between two sessions has asked once, and waits.
 */
export function nextAskAt({ everyMs, hours, delayMs }: Pace, lastMs: number | undefined, nowMs: number): number {
  if (lastMs === undefined) return nowMs;
  const due = Math.max(nowMs, lastMs + everyMs);
  if (hours === 'always') return due;
  const today = newYorkDate(nowMs - delayMs);
  // The closing quotes, which whoever asked before they were out has not seen, be it days ago.
  const before = windowOf(previousTradingDay(today), delayMs);
  if (lastMs < before.until && before.until <= nowMs) return nowMs;
  const { from, until } = windowOf(isTradingDay(today) ? today : nextTradingDay(today), delayMs);
  if (due < from) return from;
  if (due < until) return due;
  if (lastMs < until) return Math.max(nowMs, until);
  return windowOf(nextTradingDay(newYorkDate(until - delayMs)), delayMs).from;
}

function windowOf(date: string, delayMs: number): { readonly from: number; readonly until: number } {
  return { from: openOf(date) + delayMs, until: closeOf(date) + AFTER_CLOSE_MS + delayMs };
}
