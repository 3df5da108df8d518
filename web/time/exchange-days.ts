import { signal } from '@preact/signals';
import { HOUR, newYorkMidnight } from './new-york-clock.ts';

/** The length of a day of 24 hours, in ms. */
export const DAY_LENGTH_MS = 86_400_000;

/** Returns the date (`YYYY-MM-DD`) that is `days` days after a date. If `days` is negative, returns an earlier date. */
export function shiftedDate(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_LENGTH_MS).toISOString().slice(0, 10);
}

/** Days on which the exchange is shut other than weekends, and days on which trading ends at 13:00. */
export interface ExchangeCalendar {
  readonly holidays: ReadonlySet<string>;
  readonly halfDays: ReadonlySet<string>;
}

/** The server's calendar. Until it has loaded, every weekday is a trading day. */
export const exchangeCalendar = signal<ExchangeCalendar>({ holidays: new Set(), halfDays: new Set() });

/** Returns whether the New York Stock Exchange opens on a date, `YYYY-MM-DD`: a day without trading is not a day without data. */
export function isExchangeDay(date: string): boolean {
  const weekday = new Date(`${date}T12:00:00Z`).getUTCDay();
  return weekday > 0 && weekday < 6 && !exchangeCalendar.value.holidays.has(date);
}

/** Returns the instants at which trading begins and ends on a date, in ms since the epoch. */
export function exchangeHours(date: string): { readonly opens: number; readonly closes: number } {
  const midnight = newYorkMidnight(date);
  const closes = exchangeCalendar.value.halfDays.has(date) ? 13 : 16;
  return { opens: midnight + 9.5 * HOUR, closes: midnight + closes * HOUR };
}

/** Returns the trading days between two dates, without the two dates. */
export function exchangeDaysBetween(after: string, before: string): string[] {
  const days: string[] = [];
  for (let date = shiftedDate(after, 1); date < before; date = shiftedDate(date, 1)) {
    if (isExchangeDay(date)) days.push(date);
  }
  return days;
}
