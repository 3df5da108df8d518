import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  addDays,
  closeOf,
  daysBetween,
  horizonEnd,
  isDate,
  isHalfDay,
  isTradingDay,
  newYorkDate,
  newYorkInstant,
  newYorkTime,
  nextTradingDay,
  nthWeekday,
  openOf,
  previousTradingDay,
  settlementInstant,
  weekdayOf,
} from '../../src/market/calendar.ts';

const at = (text: string) => Date.parse(text);

describe('closed', () => {
  test.each([
    ['New Year on a Sunday, observed on Monday', '2023-01-02'],
    ['New Year', '2024-01-01'],
    ['Martin Luther King', '2024-01-15'],
    ['Martin Luther King, the first observed year', '1998-01-19'],
    ["Washington's Birthday", '2024-02-19'],
    ['Good Friday', '2019-04-19'],
    ['Good Friday', '2022-04-15'],
    ['Good Friday', '2024-03-29'],
    ['Good Friday', '2025-04-18'],
    ['Good Friday', '2026-04-03'],
    ['Good Friday, the latest of the century', '2038-04-23'],
    ['Memorial Day', '2025-05-26'],
    ['Memorial Day on the 31st', '2021-05-31'],
    ['Juneteenth on a Sunday, observed on Monday', '2022-06-20'],
    ['Juneteenth', '2023-06-19'],
    ['Juneteenth on a Saturday, observed on Friday', '2027-06-18'],
    ['Independence Day on a Saturday, observed on Friday', '2026-07-03'],
    ['Independence Day on a Sunday, observed on Monday', '2021-07-05'],
    ['Labor Day', '2024-09-02'],
    ['Thanksgiving', '2024-11-28'],
    ['Christmas on a Saturday, observed on Friday', '2021-12-24'],
    ['Christmas on a Sunday, observed on Monday', '2022-12-26'],
    ['September 11', '2001-09-11'],
    ['the last day of the closure after September 11', '2001-09-14'],
    ['Reagan', '2004-06-11'],
    ['Ford', '2007-01-02'],
    ['Sandy', '2012-10-29'],
    ['Sandy', '2012-10-30'],
    ['Bush', '2018-12-05'],
    ['Carter', '2025-01-09'],
    ['a Saturday', '2024-06-15'],
    ['a Sunday', '2024-06-16'],
  ])('%s: %s', (_why, date) => {
    expect(isTradingDay(date)).toBe(false);
    expect(isHalfDay(date)).toBe(false);
  });
});

describe('open', () => {
  test.each([
    ['the Friday before a New Year on Saturday', '2021-12-31'],
    ['Juneteenth before it was a holiday', '2020-06-19'],
    ['King Day before it was a holiday', '1997-01-20'],
    ['after September 11', '2001-09-17'],
    ['after Sandy', '2012-10-31'],
    ['Columbus Day', '2024-10-14'],
    ['Veterans Day', '2024-11-11'],
    ['a leap day', '2024-02-29'],
    ['Easter Monday', '2024-04-01'],
  ])('%s: %s', (_why, date) => {
    expect(isTradingDay(date)).toBe(true);
  });
});

describe('half-days', () => {
  test.each([
    ['day after Thanksgiving', '2024-11-29', true],
    ['day after Thanksgiving', '2025-11-28', true],
    ['Christmas Eve on a Tuesday', '2024-12-24', true],
    ['Christmas Eve on a Thursday', '2026-12-24', true],
    ['Christmas Eve on a Friday is the observed holiday', '2027-12-24', false],
    ['Friday before a Christmas on Sunday', '2022-12-23', false],
    ['July 3 on a Monday', '2023-07-03', true],
    ['July 3 on a Tuesday', '2018-07-03', true],
    ['July 3 on a Wednesday', '2024-07-03', true],
    ['July 3 on a Thursday', '2025-07-03', true],
    ['July 2 before an Independence Day observed on Friday', '2026-07-02', false],
    ['Friday before an Independence Day on Sunday', '2021-07-02', false],
    ['Wednesday July 3 until 2012', '2002-07-03', false],
    ['Friday July 5 until 2012', '2002-07-05', true],
    ['Friday July 5 since 2013', '2024-07-05', false],
    ["New Year's Eve", '2024-12-31', false],
  ])('%s, %s: %p', (_why, date, half) => {
    expect(isHalfDay(date)).toBe(half);
  });
});

test('counts the trading days of a year as the exchange does', () => {
  const count = (year: number) => {
    let days = 0;
    for (let date = `${year}-01-01`; date.startsWith(`${year}`); date = addDays(date, 1))
      days += Number(isTradingDay(date));
    return days;
  };
  const known = '2001 248, 2012 250, 2018 251, 2019 252, 2020 253, 2021 252, 2022 251, 2023 250, 2024 252, 2025 250'
    .split(', ')
    .map((each) => each.split(' ').map(Number) as [year: number, days: number]);
  expect(known.map(([year]) => [year, count(year)])).toEqual(known);
});

describe('opening hours', () => {
  test.each([
    ['winter', '2024-01-16', '2024-01-16T14:30:00Z', '2024-01-16T21:00:00Z'],
    ['summer', '2024-07-16', '2024-07-16T13:30:00Z', '2024-07-16T20:00:00Z'],
    ['Friday before the clocks go forward', '2024-03-08', '2024-03-08T14:30:00Z', '2024-03-08T21:00:00Z'],
    ['Monday after the clocks go forward', '2024-03-11', '2024-03-11T13:30:00Z', '2024-03-11T20:00:00Z'],
    ['Friday before the clocks go back', '2024-11-01', '2024-11-01T13:30:00Z', '2024-11-01T20:00:00Z'],
    ['Monday after the clocks go back', '2024-11-04', '2024-11-04T14:30:00Z', '2024-11-04T21:00:00Z'],
    ['April under the rules until 2006', '2006-03-31', '2006-03-31T14:30:00Z', '2006-03-31T21:00:00Z'],
    ['half-day', '2024-11-29', '2024-11-29T14:30:00Z', '2024-11-29T18:00:00Z'],
    ['leap day', '2024-02-29', '2024-02-29T14:30:00Z', '2024-02-29T21:00:00Z'],
    ['a Sunday uses the preceding Friday', '2024-06-16', '2024-06-14T13:30:00Z', '2024-06-14T20:00:00Z'],
    ['the day after a half-day Friday', '2024-11-30', '2024-11-29T14:30:00Z', '2024-11-29T18:00:00Z'],
  ])('%s: %s', (_what, date, open, close) => {
    expect(openOf(date)).toBe(at(open));
    expect(closeOf(date)).toBe(at(close));
  });
});

describe('settlement', () => {
  test.each([
    ['third Friday, AM', '2022-12-16', 'AM', '2022-12-16T14:30:00Z'],
    ['third Friday, PM', '2022-12-16', 'PM', '2022-12-16T21:00:00Z'],
    ['third Friday that is Good Friday, AM', '2022-04-15', 'AM', '2022-04-14T13:30:00Z'],
    ['third Friday that is Good Friday, PM', '2022-04-15', 'PM', '2022-04-14T20:00:00Z'],
    ['old Saturday expiry, AM', '2012-12-22', 'AM', '2012-12-21T14:30:00Z'],
    ['old Saturday expiry, PM', '2012-12-22', 'PM', '2012-12-21T21:00:00Z'],
    ['half-day', '2025-11-28', 'PM', '2025-11-28T18:00:00Z'],
    ['storm', '2012-10-30', 'PM', '2012-10-26T20:00:00Z'],
  ] as const)('%s: %s %s', (_what, expiry, settlement, instant) => {
    expect(settlementInstant(expiry, settlement)).toBe(at(instant));
  });
});

describe('New York time', () => {
  test.each([
    ['2024-01-16T04:59:59Z', '2024-01-15', '2024-01-15T23:59:59'],
    ['2024-01-16T05:00:00Z', '2024-01-16', '2024-01-16T00:00:00'],
    ['2024-07-16T03:59:59Z', '2024-07-15', '2024-07-15T23:59:59'],
    ['2024-03-10T07:00:00Z', '2024-03-10', '2024-03-10T03:00:00'],
  ])('%s', (instant, date, time) => {
    expect(newYorkDate(at(instant))).toBe(date);
    expect(newYorkTime(at(instant))).toBe(time);
  });

  test('a repeated local time means the earlier instant, a skipped one the later', () => {
    expect(newYorkInstant('2024-11-03', '01:30')).toBe(at('2024-11-03T05:30:00Z'));
    expect(newYorkInstant('2024-03-10', '02:30')).toBe(at('2024-03-10T07:30:00Z'));
  });
});

describe('New York time by the law of 2007 is that of the time-zone data', () => {
  const zone = 'America/New_York';
  const byTemporal = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
  const instantBy = (local: string) => Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds;

  test('around the changes of all years', () => {
    for (let year = 2005; year <= 2102; year++) {
      for (const day of [nthWeekday(year, 3, 0, 2), nthWeekday(year, 11, 0, 1), `${year}-01-01`, `${year}-12-31`]) {
        for (let quarter = -8; quarter < 40; quarter++) {
          const ms = Date.parse(day) + quarter * 900_000 + (quarter % 3) * 40;
          expect(newYorkTime(ms), day).toBe(byTemporal(ms).toPlainDateTime().toString());
          const local = new Date(ms).toISOString().slice(0, -1);
          expect(newYorkInstant(local.slice(0, 10), local.slice(11)), local).toBe(instantBy(local));
        }
      }
    }
  });

  test('at random moments', () => {
    const moment = fc.double({ min: at('1990-01-01T00:00Z'), max: at('2120-01-01T00:00Z'), noNaN: true });
    fc.assert(
      fc.property(moment, (ms) => {
        const local = byTemporal(Math.floor(ms)).toPlainDateTime().toString();
        expect(newYorkTime(ms)).toBe(local);
        expect(newYorkDate(ms)).toBe(local.slice(0, 10));
        expect(newYorkInstant(local.slice(0, 10), local.slice(11))).toBe(instantBy(local));
      }),
    );
  });

  test.each([
    ['2024-02-30', '09:30'],
    ['2024-02-29', '24:30'],
    ['2024-02-29', '9:30'],
    ['2024-02-29', '09:30Z'],
    ['', ''],
  ])('%p %p is not a time', (date, time) => {
    expect(() => newYorkInstant(date, time)).toThrow(RangeError);
  });
});

test('previous and next trading days', () => {
  expect(nextTradingDay('2024-03-28')).toBe('2024-04-01');
  expect(previousTradingDay('2024-04-01')).toBe('2024-03-28');
  expect(nextTradingDay('2001-09-10')).toBe('2001-09-17');
});

test('next and previous trading day are inverse, and the session has the right date and length', () => {
  const day = fc.nat({ max: 25_000 }).map((days) => addDays('1995-01-01', days));
  fc.assert(
    fc.property(day, (date) => {
      const next = nextTradingDay(date);
      expect(isTradingDay(next) && next > date).toBe(true);
      if (isTradingDay(date)) {
        expect(previousTradingDay(next)).toBe(date);
        expect(newYorkDate(openOf(date))).toBe(date);
        expect(newYorkTime(openOf(date)).slice(11)).toBe('09:30:00');
      }
      expect(closeOf(date) - openOf(date)).toBe((isHalfDay(newYorkDate(closeOf(date))) ? 3.5 : 6.5) * 3_600_000);
    }),
  );
});

describe('dates', () => {
  test.each([
    ['2024-02-29', true],
    ['2023-02-29', false],
    ['1900-02-29', false],
    ['2000-02-29', true],
    ['2024-04-31', false],
    ['2024-13-01', false],
    ['2024-00-10', false],
    ['2024-1-1', false],
    ['0000-01-01', false],
    ['20240101', false],
    ['2024-01-01T00:00', false],
    ['', false],
  ])('%p: %p', (text, valid) => {
    expect(isDate(text)).toBe(valid);
  });

  test('date arithmetic', () => {
    expect(addDays('2024-02-28', 2)).toBe('2024-03-01');
    expect(daysBetween('2024-02-28', '2024-03-01')).toBe(2);
    expect(weekdayOf('2024-03-01')).toBe(5);
    expect(weekdayOf('1969-12-31')).toBe(3);
    expect(nthWeekday(2026, 9, 5, 3)).toBe('2026-09-18');
    expect(nthWeekday(2021, 5, 1, -1)).toBe('2021-05-31');
  });
});

describe('horizonEnd', () => {
  test.each([
    ['a Tuesday', '2024-03-26T15:00:00Z', 1, '2024-03-27T20:00:00Z'],
    ['a Thursday before Good Friday', '2024-03-28T15:00:00Z', 1, '2024-04-01T20:00:00Z'],
    ['a Friday', '2024-03-22T15:00:00Z', 1, '2024-03-25T20:00:00Z'],
    ['a Friday, three days', '2024-03-22T15:00:00Z', 3, '2024-03-25T20:00:00Z'],
    ['today', '2024-03-22T15:00:00Z', 0, '2024-03-22T20:00:00Z'],
    ['today, after the close', '2024-03-22T21:00:00Z', 0, '2024-03-22T20:00:00Z'],
    ['today, a Saturday', '2024-03-23T15:00:00Z', 0, '2024-03-25T20:00:00Z'],
    ['a half day', '2024-07-02T15:00:00Z', 1, '2024-07-03T17:00:00Z'],
    ['the evening in New York, the next day in UTC', '2024-03-27T01:00:00Z', 1, '2024-03-27T20:00:00Z'],
  ])('from %s', (_, from, days, end) => {
    expect(new Date(horizonEnd(at(from), days)).toISOString()).toBe(new Date(end).toISOString());
  });
});
