import { closedDatesOf } from '../../../src/market/calendar.ts';
import { exchangeCalendar } from '../../../web/time/exchange-days.ts';

/** Gives the page the calendar of the server, as its answer does. */
export function loadCalendar(): void {
  const years = Array.from({ length: 41 }, (_, i) => closedDatesOf(2000 + i));
  exchangeCalendar.value = {
    holidays: new Set(years.flatMap(({ holidays }) => holidays)),
    halfDays: new Set(years.flatMap(({ halfDays }) => halfDays)),
  };
}
