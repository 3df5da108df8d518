import { expect, test } from 'bun:test';
import { addDays, isHalfDay, isTradingDay } from '../../../src/market/calendar.ts';
import { closesEarly, exchangeCalendar, exchangeDaysBetween, isExchangeDay } from '../../../web/time/exchange-days.ts';
import { loadCalendar } from './server-calendar.ts';

const DATES: string[] = [];
for (let date = '2000-01-01'; date < '2041-01-01'; date = addDays(date, 1)) DATES.push(date);

test('until the calendar has loaded, every weekday is a day of trading', () => {
  exchangeCalendar.value = { holidays: new Set(), halfDays: new Set() };
  expect([isExchangeDay('2026-11-26'), isExchangeDay('2026-11-28'), closesEarly('2026-11-27')]).toEqual([
    true,
    false,
    false,
  ]);
});

test("the page's days of trading from 2000 to 2040 are those of the server's calendar", () => {
  loadCalendar();
  expect(DATES.filter((date) => isExchangeDay(date) !== isTradingDay(date))).toEqual([]);
  expect(DATES.filter((date) => isTradingDay(date) && closesEarly(date) !== isHalfDay(date))).toEqual([]);
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
