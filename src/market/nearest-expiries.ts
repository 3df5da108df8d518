import { daysBetween, isDate } from './calendar.ts';
import type { Series } from './chain.ts';

/** Maximum number of expiries that an error names, of those that are live and of those that have settled. */
const NAMED = 4;

/**
 * Returns sentences that name the expiries nearest to a date, in order, or the first from `today` on for an invalid date, with those
 * settled by `nowMs` as settled. Dates are `YYYY-MM-DD`, moments ms since the epoch.
 */
export function nearestListed(
  series: readonly Pick<Series, 'expiry' | 'settlesAt'>[],
  date: string,
  today: string,
  nowMs: number,
): string {
  const live = new Set(series.filter(({ settlesAt }) => settlesAt > nowMs).map(({ expiry }) => expiry));
  const settled = nearestOf(new Set(series.map(({ expiry }) => expiry)), date, today).filter((each) => !live.has(each));
  const nearest = nearestOf(live, date, today);
  return [
    nearest.length > 0 ? `Nearest listed: ${nearest.join(', ')}.` : 'No listed expiry is live any more.',
    ...(settled.length > 0 ? [`Settled since the quotes: ${settled.join(', ')}.`] : []),
  ].join(' ');
}

function nearestOf(expiries: ReadonlySet<string>, date: string, today: string): string[] {
  const distance = isDate(date) ? (expiry: string) => Math.abs(daysBetween(expiry, date)) : () => 0;
  return [...expiries]
    .filter((each) => isDate(date) || each >= today)
    .sort((a, b) => distance(a) - distance(b) || a.localeCompare(b))
    .slice(0, NAMED)
    .sort();
}
