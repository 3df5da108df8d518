import { expect, test } from 'bun:test';
import { addDays, closeOf, isTradingDay, openOf } from '../../../src/market/calendar.ts';
import {
  exchangeCalendar,
  exchangeDaysBetween,
  exchangeHours,
  isExchangeDay,
} from '../../../web/time/exchange-days.ts';
import { loadCalendar } from './server-calendar.ts';

const DATES: string[] = [];
for (let date = '2000-01-01'; date < '2041-01-01'; date = addDays(date, 1)) DATES.push(date);

test('until the calendar has loaded, every weekday is a day of trading', () => {
  exchangeCalendar.value = { holidays: new Set(), halfDays: new Set() };
  expect([isExchangeDay('2026-11-26'), isExchangeDay('2026-11-28')]).toEqual([true, false]);
  expect(exchangeHours('2026-11-27').closes).toBe(Date.parse('2026-11-27T16:00-05:00'));
});

test("the page's sessions from 2000 to 2040 are those of the server's calendar", () => {
  loadCalendar();
  expect(DATES.filter((date) => isExchangeDay(date) !== isTradingDay(date))).toEqual([]);
  for (const date of DATES.filter(isTradingDay))
    expect([date, exchangeHours(date)]).toEqual([date, { opens: openOf(date), closes: closeOf(date) }]);
});

test.each([
  ['2026-11-19', '2026-11-20', []],
  ['2026-11-20', '2026-11-23', []],
  ['2026-11-25', '2026-11-27', []],
  ['2026-11-23', '2026-11-25', ['2026-11-24']],
  ['2026-11-19', '2026-11-24', ['2026-11-20', '2026-11-23']],
])('between %s and %s the exchange opened on %p', (after, before, days) => {
  expect(exchangeDaysBetween(after, before)).toEqual(days);
});
