import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test';
import { type AxisDay, tradingAxis, tradingTicks } from '../../../web/time/trading-axis.ts';
import { loadCalendar } from './server-calendar.ts';

loadCalendar();

const HOUR = 3_600_000;
const hours = ({ from, to }: Omit<AxisDay, 'start' | 'width'>) => (to - from) / HOUR;
const at = (moments: readonly string[]) => moments.map((moment) => Date.parse(`${moment}Z`));
/** The closes of all dates between two dates but those left out. */
const closes = (first: string, last: string, ...without: readonly string[]) => {
  const dates: string[] = [];
  for (let ms = Date.parse(first); ms <= Date.parse(last); ms += 24 * HOUR) {
    const date = new Date(ms).toISOString().slice(0, 10);
    if (new Date(ms).getUTCDay() % 6 !== 0 && !without.includes(date)) dates.push(`${date}T21:00`);
  }
  return at(dates);
};

/** A moment each half-hour of two sessions. */
const TWO_DAYS = ['2026-11-19', '2026-11-20'].flatMap((date) =>
  Array.from({ length: 14 }, (_, i) => Date.parse(`${date}T14:30Z`) + (i * HOUR) / 2),
);

describe('the days of an axis', () => {
  test.each([
    ['leave out nights, weekends and holidays', closes('2026-11-20', '2026-11-27', '2026-11-26'), {}, '20 23 24 25 27'],
    ['have those without data', closes('2026-11-18', '2026-11-20', '2026-11-19'), {}, '18 19- 20'],
    ['have a weekend with data', at(['2026-11-20T21:00', '2026-11-22T20:00']), {}, '20 22'],
    [
      'reach to given dates',
      closes('2026-11-18', '2026-11-18'),
      { from: '2026-11-17', to: '2026-11-20' },
      '17- 18 19- 20-',
    ],
    ['are none without moments', [], {}, ''],
  ])('%s', (_, moments, ends, expected) => {
    const { days } = tradingAxis(moments, () => 1, ends);
    expect(days.map(({ date, count }) => `${Number(date.slice(8))}${count === 0 ? '-' : ''}`).join(' ')).toBe(expected);
  });

  test('have the hours of their session and of their data', () => {
    const moments = at(['2026-11-25T13:00', '2026-11-27T15:00', '2026-11-30T14:30', '2026-11-30T16:00']);
    expect(tradingAxis(moments, hours).days.map(({ width }) => width)).toEqual([8, 3.5, 1.5]);
  });
});

test('positions ascend with time, within the axis, and each moment lies within its day', () => {
  const moments = closes('2026-10-01', '2026-12-04', '2026-10-14', '2026-11-03').flatMap((close, i) =>
    Array.from({ length: 1 + (i % 7) }, (_, k) => close - k * HOUR).reverse(),
  );
  for (const width of [hours, () => 1, ({ count }: { count: number }) => Math.max(1, count)]) {
    const axis = tradingAxis(moments, width);
    const positions = moments.map(axis.at);
    expect(positions.every((each, i) => i === 0 || each > positions[i - 1]!)).toBe(true);
    expect(positions[0]).toBeGreaterThan(0);
    expect(positions.at(-1)).toBeLessThan(axis.length);
    for (const { from, to, start, width: w } of axis.days) {
      for (const ms of moments.filter((each) => each >= from && each <= to)) {
        expect(axis.at(ms)).toBeWithin(start, start + w + 1e-9);
      }
    }
    expect([axis.at(moments[0]! - 99 * HOUR), axis.at(moments.at(-1)! + 99 * HOUR)]).toEqual([0, axis.length]);
  }
});

test('with a width for each moment, moments at even times are evenly spaced over days', () => {
  const { at: position } = tradingAxis(TWO_DAYS, ({ count }) => count);
  const places = TWO_DAYS.map(position);
  expect(places.map((each) => Math.round(each * 1e6) / 1e6)).toEqual(places.map((_, i) => i + 0.5));
});

describe('ticks', () => {
  beforeAll(() => setSystemTime(new Date('2026-11-20T12:00:00Z')));
  afterAll(() => setSystemTime());
  const year = tradingAxis(closes('2025-11-20', '2026-11-20'), () => 1);
  const labels = (axis: typeof year, low: number, high: number, most: number) =>
    tradingTicks(axis, low, high, most).map(({ label }) => label);

  test.each([
    [13, 'Dec ’25 2026 Feb Mar Apr May Jun Jul Aug Sep Oct Nov'],
    [5, '2026 Apr Jul Oct'],
    [3, '2026'],
  ])('of a year, with room for %d', (most, expected) => {
    expect(labels(year, 0, year.length, most).join(' ')).toBe(expected);
  });

  test('of a month are weeks, and of a week days', () => {
    const month = tradingAxis(closes('2026-10-26', '2026-11-20'), () => 1);
    expect(labels(month, 0, month.length, 8)).toEqual(['26 Oct', '2 Nov', '9 Nov', '16 Nov']);
    expect(labels(month, 15, 20, 8)).toEqual(['16 Nov', '17 Nov', '18 Nov', '19 Nov', '20 Nov']);
  });

  test('of another year than the present one have the year once', () => {
    const earlier = tradingAxis(closes('2025-12-29', '2026-01-06'), () => 1);
    expect(labels(earlier, 0, earlier.length, 9).join(' ')).toBe(
      '29 Dec ’25 30 Dec 31 Dec 1 Jan ’26 2 Jan 5 Jan 6 Jan',
    );
    setSystemTime(new Date('2027-02-01T12:00:00Z'));
    expect(labels(earlier, 4, earlier.length, 9)[0]).toBe('2 Jan ’26');
    setSystemTime(new Date('2026-11-20T12:00:00Z'));
  });

  test('of two days are hours of New York between the days', () => {
    const axis = tradingAxis(TWO_DAYS, hours);
    expect(labels(axis, 0, axis.length, 9).join(' ')).toBe('19 Nov 12:00 14:00 20 Nov 12:00 14:00 16:00');
  });

  test.each([
    ['2026-03-08', 23, '8 Mar 06:00 09:00 12:00 15:00 18:00 21:00'],
    ['2026-11-01', 25, '1 Nov 03:00 06:00 09:00 12:00 15:00 18:00 21:00'],
  ])('of %s, which has %d hours, are on the hours that its clocks show', (date, length, expected) => {
    const midnight = Date.parse(`${date}T05:00Z`) - (date.includes('-11-') ? HOUR : 0);
    const axis = tradingAxis(
      Array.from({ length: 4 * length }, (_, i) => midnight + (i * HOUR) / 4),
      hours,
    );
    const ticks = tradingTicks(axis, 0, axis.length, 9);
    expect(ticks.map(({ label }) => label).join(' ')).toBe(expected);
    // From midnight to six o'clock it is an hour less, or more, than six hours.
    const place = (label: string) => ticks.find((tick) => tick.label === label)!.at;
    expect((place('06:00') - ticks[0]!.at) / (place('12:00') - place('06:00'))).toBeCloseTo((6 + length - 24) / 6, 1);
  });

  test('hardly stand closer than the room that they were given', () => {
    for (let most = 1; most < 30; most++) {
      for (let low = 0; low < 240; low += 7) {
        const ticks = tradingTicks(year, low, low + 1 + (low % 90), most);
        const gaps = ticks.slice(1).map((tick, i) => tick.at - ticks[i]!.at);
        expect(Math.min(...gaps)).toBeGreaterThan((0.89 * (1 + (low % 90))) / most);
      }
    }
  });

  test.each([
    ['empty', tradingAxis([], () => 1), 0, 1, 5],
    ['without a range', year, 5, 5, 5],
    ['without room', year, 0, 9, 0],
  ])('an axis %s has none', (_, axis, low, high, most) => {
    expect(tradingTicks(axis, low, high, most)).toEqual([]);
  });
});
