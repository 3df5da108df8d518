import { expect, test } from 'bun:test';
import { newYorkTime } from '../../src/market/calendar.ts';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';

const at = (text: string) => Date.parse(text);

test.each([
  ['in market hours', '2026-11-23T15:47:31Z', '2026-11-23T10:47:00'],
  ['at the open', '2026-11-23T14:30:00Z', '2026-11-23T09:30:00'],
  ['before the open', '2026-11-23T14:29:59Z', '2026-11-20T16:00:00'],
  ['on a Sunday', '2026-11-22T17:00:00Z', '2026-11-20T16:00:00'],
  ['after an early close', '2026-11-27T20:00:00Z', '2026-11-27T13:00:00'],
])('the newest quotes %s', (_when, now, newest) => {
  expect(newYorkTime(newestSimulated(at(now), 'real'))).toBe(newest);
});

test('with the clock `always`, the newest quotes are those of the present minute', () => {
  expect(newYorkTime(newestSimulated(at('2026-11-22T08:07:31Z'), 'always'))).toBe('2026-11-22T03:07:00');
});

/** The moments of the past as times by day, the newest first. */
function pastAt(now: string): Map<string, string[]> {
  const times = pastMoments(newestSimulated(at(now), 'real')).map((moment) =>
    newYorkTime(moment).slice(0, 16).split('T'),
  );
  return new Map([...Map.groupBy(times, ([day]) => day!)].map(([day, rows]) => [day, rows.map(([, time]) => time!)]));
}

const HALF_HOURS = Array.from({ length: 14 }, (_, i) => {
  const minutes = 16 * 60 - 30 * i;
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${minutes % 60 === 0 ? '00' : '30'}`;
});

test('on a Sunday: half hours of five trading days without the last close, and closes of the 55 days before', () => {
  const past = pastAt('2026-11-22T17:00:00Z');
  expect([...past.keys()].slice(0, 6)).toEqual([
    ...['2026-11-20', '2026-11-19', '2026-11-18', '2026-11-17', '2026-11-16', '2026-11-13'],
  ]);
  expect(past.size).toBe(60);
  expect([...past.values()].slice(0, 6)).toEqual([
    HALF_HOURS.slice(1),
    ...Array.from({ length: 4 }, () => HALF_HOURS),
    ['16:00'],
  ]);
  expect([...past.values()].slice(6).every((times) => times.length === 1)).toBe(true);
});

test('in market hours: the half hours of the day so far; a half day ends at 13:00; a holiday is left out', () => {
  const past = pastAt('2026-11-30T15:30:00Z');
  expect([...past].slice(0, 3)).toEqual([
    ['2026-11-30', ['10:00', '09:30']],
    ['2026-11-27', HALF_HOURS.slice(6)],
    ['2026-11-25', HALF_HOURS],
  ]);
  expect([past.size, past.get('2025-11-28')]).toEqual([60, undefined]);
});

test('at the open: nothing of the day yet', () => {
  const past = pastAt('2026-11-23T14:30:00Z');
  expect([past.size, [...past.keys()][0]]).toEqual([59, '2026-11-20']);
});
