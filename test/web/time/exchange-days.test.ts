import { expect, test } from 'bun:test';
import { addDays, isHalfDay, isTradingDay } from '../../../src/market/calendar.ts';
import { closesEarly, exchangeDaysBetween, isExchangeDay } from '../../../web/time/exchange-days.ts';

const DATES: string[] = [];
for (let date = '2022-01-01'; date < '2046-01-01'; date = addDays(date, 1)) DATES.push(date);

test("the page's days of trading from 2022 to 2045 are those of the server's calendar, but for a day of mourning", () => {
  expect(DATES.filter((date) => isExchangeDay(date) !== isTradingDay(date))).toEqual(['2025-01-09']);
});

test('the days that close early from 2022 to 2045 are those of the calendar', () => {
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
