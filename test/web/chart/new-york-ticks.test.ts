import { describe, expect, test } from 'bun:test';
import { newYorkMidnight, newYorkTicks, newYorkWall } from '../../../src/web/chart/new-york-ticks.ts';

const HOUR = 3_600_000;
const clock = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  dateStyle: 'short',
  timeStyle: 'short',
});

describe('a day in New York', () => {
  test.each([
    ['2026-03-08', 23],
    ['2026-11-01', 25],
    ['2026-11-20', 24],
  ])('%s has %d hours, each with a tick', (date, hours) => {
    const from = newYorkMidnight(date);
    const ticks = newYorkTicks(from, from + hours * HOUR, 30);
    expect(ticks).toHaveLength(hours + 1);
    expect([ticks[0]!.at, ticks.at(-1)!.at]).toEqual([from, from + hours * HOUR]);
    expect(clock.format(from)).toBe(`${date}, 00:00`);
    expect(newYorkWall(from)).toBe(Date.parse(`${date}T00:00:00Z`));
  });

  test.each([
    ['2026-03-08', ['8 Mar', '06:00', '12:00', '18:00', '9 Mar']],
    ['2026-11-01', ['1 Nov', '06:00', '12:00', '18:00', '2 Nov']],
  ])('%s has ticks on the hours that its clocks show', (date, labels) => {
    const from = newYorkMidnight(date);
    expect(newYorkTicks(from, from + 25 * HOUR, 5).map(({ label }) => label)).toEqual(labels);
  });
});

test('every tick is on a round hour, a midnight, a Monday or a first of a month of New York', () => {
  const shown = new Set<number>();
  for (const around of ['2026-03-08', '2026-11-01', '2027-01-01']) {
    for (const hoursBefore of [0, 5, 31, 200, 3_000]) {
      for (const length of [3, 26, 70, 200, 1_000, 5_000, 20_000]) {
        const from = Date.parse(`${around}T06:00:00Z`) - hoursBefore * HOUR;
        const to = from + length * HOUR;
        const ticks = newYorkTicks(from, to, 12);
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThan(16);
        const gaps = ticks.slice(1).map(({ at }, i) => at - ticks[i]!.at);
        expect(Math.min(...gaps)).toBeGreaterThan(0.5 * Math.max(...gaps));
        for (const { at, label } of ticks) {
          expect(at).toBeWithin(from, to + 1);
          const [, time] = clock.format(at).split(', ');
          if (gaps[0]! >= 20 * HOUR) expect(time).toBe('00:00');
          else expect(label === time || time === '00:00').toBe(true);
        }
        shown.add(gaps[0]!);
      }
    }
  }
  expect(shown.size).toBeGreaterThan(6);
});

test.each([
  ['2026-11-02T05:00:00Z', 90, ['2 Nov', '9 Nov', '16 Nov', '23 Nov', '30 Nov']],
  ['2026-11-15T05:00:00Z', 3_000, ['Dec', '2027', 'Feb', 'Mar']],
])('from %s, a long range has weeks or months', (begin, hours, labels) => {
  const from = Date.parse(begin);
  const length = hours === 90 ? 30 * 24 : hours;
  expect(newYorkTicks(from, from + length * HOUR, 5).map(({ label }) => label)).toEqual(labels);
});

test.each([
  [0, 0, 5],
  [5, 4, 5],
  [0, 1e9, 0],
  [Number.NaN, 1e9, 5],
])('a range from %d to %d with room for %d has no tick', (from, to, most) => {
  expect(newYorkTicks(from, to, most)).toEqual([]);
});
