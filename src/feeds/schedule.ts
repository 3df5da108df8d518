import { closeOf, isTradingDay, newYorkDate, nextTradingDay, openOf, previousTradingDay } from '../market/calendar.ts';
import type { Pace } from '../market/feed.ts';

/** Time between the close and the final quotes, because options on indices and index funds still trade for this time. */
const AFTER_CLOSE_MS = 15 * 60_000;

/**
 * Returns the time of a source's next poll, ms since the epoch: now, if there is no last poll or it is in the future, because the clock was
 * set back. With `session` hours, the source is polled at its interval from the opening, and once more when the closing quotes are final,
 * each time plus its delay. A service that starts outside a session polls once, and waits for the next opening.
 */
export function nextPollAt({ everyMs, hours, delayMs }: Pace, lastMs: number | undefined, nowMs: number): number {
  if (lastMs === undefined || lastMs > nowMs) return nowMs;
  const due = Math.max(nowMs, lastMs + everyMs);
  if (hours === 'always') return due;
  const today = newYorkDate(nowMs - delayMs);
  // If the closing quotes of the previous session became final after the last poll, the source is polled once for the closing quotes.
  const before = windowOf(previousTradingDay(today), delayMs);
  if (lastMs < before.until && before.until <= nowMs) return nowMs;
  const { from, until } = windowOf(isTradingDay(today) ? today : nextTradingDay(today), delayMs);
  if (due < from) return from;
  if (due < until) return due;
  if (lastMs < until) return Math.max(nowMs, until);
  return windowOf(nextTradingDay(newYorkDate(until - delayMs)), delayMs).from;
}

/** Returns the polling period on a trading day, shifted by a source's delay: from the opening until the closing quotes are final. */
function windowOf(date: string, delayMs: number): { readonly from: number; readonly until: number } {
  return { from: openOf(date) + delayMs, until: closeOf(date) + AFTER_CLOSE_MS + delayMs };
}
