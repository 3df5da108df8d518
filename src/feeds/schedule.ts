import { closeOf, isTradingDay, newYorkDate, nextTradingDay, openOf, previousTradingDay } from '../market/calendar.ts';
import type { Pace } from '../market/feed.ts';

/**
 * Time from the close of the market to the final quotes. Index options, and options on index funds, trade for this time after the close.
 * The quotes of other options become final in this time.
 */
const AFTER_CLOSE_MS = 15 * 60_000;

/**
 * Returns when to poll a source next, ms since the epoch. `lastMs` is the time of the last poll. Without a last poll, the source is polled
 * at once.
 *
 * With `session` hours, the source is polled at its interval from the opening on, and once more when the closing quotes are final. These
 * times are shifted by the source's own delay. A service that starts outside a session polls once, and then waits for the next opening.
 */
export function nextPollAt({ everyMs, hours, delayMs }: Pace, lastMs: number | undefined, nowMs: number): number {
  if (lastMs === undefined) return nowMs;
  const due = Math.max(nowMs, lastMs + everyMs);
  if (hours === 'always') return due;
  const today = newYorkDate(nowMs - delayMs);
  // Fetch the closing quotes of the previous session if the last poll took place before these quotes were final. The quotes of the last
  // poll may be days old.
  const before = windowOf(previousTradingDay(today), delayMs);
  if (lastMs < before.until && before.until <= nowMs) return nowMs;
  const { from, until } = windowOf(isTradingDay(today) ? today : nextTradingDay(today), delayMs);
  if (due < from) return from;
  if (due < until) return due;
  if (lastMs < until) return Math.max(nowMs, until);
  return windowOf(nextTradingDay(newYorkDate(until - delayMs)), delayMs).from;
}

/**
 * Returns the period in which a source with this delay is polled for a trading day, from the opening until the closing quotes are final.
 */
function windowOf(date: string, delayMs: number): { readonly from: number; readonly until: number } {
  return { from: openOf(date) + delayMs, until: closeOf(date) + AFTER_CLOSE_MS + delayMs };
}
