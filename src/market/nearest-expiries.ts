import { daysBetween, isDate } from './calendar.ts';

/** Maximum number of expiries that an error names. */
const NAMED = 4;

/**
 * Returns the expiries nearest to a date, at most four, in order of date. If `date` is not a valid date, returns the first expiries from
 * `today` on. All dates are `YYYY-MM-DD`.
 */
export function nearestExpiries(expiries: Iterable<string>, date: string, today: string): string[] {
  const distance = isDate(date) ? (expiry: string) => Math.abs(daysBetween(expiry, date)) : () => 0;
  return [...new Set(expiries)]
    .filter((each) => isDate(date) || each >= today)
    .sort((a, b) => distance(a) - distance(b) || a.localeCompare(b))
    .slice(0, NAMED)
    .sort();
}
