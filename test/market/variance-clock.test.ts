import { describe, expect, test } from 'bun:test';
import { YEAR_MS } from '../../src/market/calendar.ts';
import { CALENDAR, VarianceClock } from '../../src/market/variance-clock.ts';

const WEIGHTS = { night: 0.2, shutDay: 0.05 };
/** Sessions of an average year with these weights, see the constants of the clock. */
const PER_YEAR = 250.2 + 260.9 * 0.2 + (365.25 - 260.9) * 0.05;

/** Sessions between two instants in New York. */
function sessions(from: string, to: string): number {
  return new VarianceClock(Date.parse(from), WEIGHTS).years(Date.parse(to)) * PER_YEAR;
}

describe('sessions that pass', () => {
  test.each([
    ['a session', '2026-08-24T09:30-04:00', '2026-08-24T16:00-04:00', 1],
    ['half of one', '2026-08-24T09:30-04:00', '2026-08-24T12:45-04:00', 0.5],
    ['a night', '2026-08-24T16:00-04:00', '2026-08-25T09:30-04:00', 0.2],
    ['half of a night', '2026-08-24T16:00-04:00', '2026-08-25T00:45-04:00', 0.1],
    ['from close to close', '2026-08-24T16:00-04:00', '2026-08-25T16:00-04:00', 1.2],
    ['a weekend: a night and two days', '2026-08-21T16:00-04:00', '2026-08-24T09:30-04:00', 0.3],
    ['a weekend with Labor Day: two nights and two days', '2026-09-04T16:00-04:00', '2026-09-08T09:30-04:00', 0.5],
    ['Thanksgiving: two nights', '2026-11-25T16:00-05:00', '2026-11-27T09:30-05:00', 0.4],
    ['the half day after Thanksgiving', '2026-11-27T09:30-05:00', '2026-11-27T13:00-05:00', 3.5 / 6.5],
    ['a week', '2026-08-21T16:00-04:00', '2026-08-28T16:00-04:00', 5 + 4 * 0.2 + 0.3],
    [
      'from a Saturday to Monday, before the open',
      '2026-08-22T12:00-04:00',
      '2026-08-24T09:30-04:00',
      (0.3 * 45.5) / 65.5,
    ],
    ['none', '2026-08-24T12:00-04:00', '2026-08-24T12:00-04:00', 0],
  ])('%s', (_, from, to, expected) => {
    expect(sessions(from, to)).toBeCloseTo(expected, 10);
  });
});

test('a year of the clock is a year of the calendar on average', () => {
  const [from, to] = [Date.parse('2020-01-01T00:00Z'), Date.parse('2030-01-01T00:00Z')];
  expect(new VarianceClock(from, WEIGHTS).years(to)).toBeCloseTo((to - from) / YEAR_MS, 1);
});

test('time never runs backwards, whatever the order of questions', () => {
  const from = Date.parse('2026-11-20T18:00Z');
  const clock = new VarianceClock(from);
  const late = clock.years(from + 400 * 86_400_000);
  let before = 0;
  for (let hours = 0; hours < 24 * 60; hours += 3) {
    const years = clock.years(from + hours * 3_600_000);
    expect(years).toBeGreaterThanOrEqual(before);
    before = years;
  }
  expect(before).toBeLessThan(late);
});

test('the calendar counts all time evenly', () => {
  const from = Date.parse('2026-08-21T20:00Z');
  expect(new VarianceClock(from, CALENDAR).years(from + YEAR_MS / 4)).toBe(0.25);
});
