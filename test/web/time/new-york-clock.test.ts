import { describe, expect, test } from 'bun:test';
import { HOUR_STEPS, hourTicks, newYorkMidnight, newYorkWall } from '../../../web/time/new-york-clock.ts';

const HOUR = 3_600_000;
const clock = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  dateStyle: 'short',
  timeStyle: 'short',
});

describe.each([
  ['2026-03-08', 23, ['00:00', '01:00', '03:00', '04:00']],
  ['2026-11-01', 25, ['00:00', '01:00', '01:00', '02:00']],
  ['2026-11-20', 24, ['00:00', '01:00', '02:00', '03:00']],
])('%s has %d hours', (date, hours, first) => {
  const from = newYorkMidnight(date);
  const to = from + hours * HOUR;

  test('from midnight to midnight', () => {
    expect([clock.format(from), clock.format(to).slice(-5)]).toEqual([`${date}, 00:00`, '00:00']);
    expect(newYorkWall(from)).toBe(Date.parse(`${date}T00:00:00Z`));
  });

  test('each hour has a tick', () => {
    const ticks = hourTicks(from, to, HOUR);
    expect(ticks).toHaveLength(hours + 1);
    expect(ticks.slice(0, 4).map(({ label }) => label)).toEqual(first);
  });

  test('ticks of three hours are on the hours that the clocks show', () => {
    const ticks = hourTicks(from, to, 3 * HOUR);
    expect(ticks.slice(0, 4).map(({ label }) => label)).toEqual(['00:00', '03:00', '06:00', '09:00']);
    expect(ticks).toHaveLength(9);
  });

  test.each(HOUR_STEPS.map((step) => [step / 60_000, step] as const))('a step of %d minutes', (_, step) => {
    for (const { at, label } of hourTicks(from - 7 * HOUR, to + 5 * HOUR, step)) {
      expect(clock.format(at).slice(-5)).toBe(label);
      const [hour, minute] = label.split(':').map(Number);
      expect((hour! * 60 + minute!) % (step / 60_000)).toBe(0);
    }
  });
});

test('a range that is empty or unknown has no tick', () => {
  expect([hourTicks(5, 4, HOUR), hourTicks(Number.NaN, 1e9, HOUR)]).toEqual([[], []]);
});
