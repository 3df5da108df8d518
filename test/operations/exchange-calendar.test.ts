import { expect, test } from 'bun:test';
import { addDays, isHalfDay, isTradingDay } from '../../src/market/calendar.ts';
import { getExchangeCalendar } from '../../src/operations/exchange-calendar.ts';
import { callRoute, smallMarket } from './small-market.ts';

const calendar = (from_year?: number, to_year?: number) =>
  callRoute(getExchangeCalendar, { from_year, to_year }, smallMarket().context) as {
    holidays: string[];
    half_days: string[];
  };

test('the answer decides about every day as the calendar of the server does', () => {
  const { holidays, half_days } = calendar(1990, 2049);
  const [shut, half] = [new Set(holidays), new Set(half_days)];
  for (let date = '1990-01-01'; date < '2050-01-01'; date = addDays(date, 1)) {
    const weekday = new Date(`${date}T12:00:00Z`).getUTCDay();
    const isOpen = weekday > 0 && weekday < 6 && !shut.has(date);
    if (isOpen !== isTradingDay(date) || (isOpen && half.has(date) !== isHalfDay(date))) throw new Error(date);
  }
  expect([...holidays]).toEqual(holidays.toSorted());
  expect(holidays).toContain('2025-01-09');
});

test.each([
  [2027, 2026],
  [1990, 2050],
])('the years %d to %d are refused', (from, to) => {
  expect(() => calendar(from, to)).toThrow(/to_year/);
});

test('without years, it has those of stored chains and of expiries', () => {
  const { holidays } = calendar();
  expect([holidays[0]!.slice(0, 4), holidays.at(-1)!.slice(0, 4)]).toEqual(['2000', '2040']);
});
