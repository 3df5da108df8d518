import { describe, expect, test } from 'bun:test';
import { nextPollAt } from '../../src/feeds/schedule.ts';
import { DAY_MS, newYorkTime } from '../../src/market/calendar.ts';
import type { Pace } from '../../src/market/feed.ts';

const MINUTE_MS = 60_000;
const at = (text: string) => Date.parse(text);
const pace = (everyMin: number, delayMin = 0): Pace => ({
  ...{ everyMs: everyMin * MINUTE_MS, hours: 'session', delayMs: delayMin * MINUTE_MS },
});

/** Returns every poll between two moments, each as soon as it is due and taking `tookMs`. Times are of New York, to the minute. */
function asks(each: Pace, fromMs: number, toMs: number, tookMs = 0): string[] {
  const times: string[] = [];
  let last: number | undefined;
  for (let now = fromMs; ; ) {
    const next = nextPollAt(each, last, now);
    expect(next).toBeGreaterThanOrEqual(now);
    if (next >= toMs) return times;
    times.push(newYorkTime(next).slice(0, 16));
    last = next;
    now = next + tookMs;
  }
}

describe('a year of sessions', () => {
  const year = asks(pace(30), at('2026-01-01T00:00:00-05:00'), at('2027-01-01T00:00:00-05:00')).slice(1);
  const byDay = Map.groupBy(year, (each) => each.slice(0, 10));
  const times = (day: string) => byDay.get(day)?.map((each) => each.slice(11));

  test('has 251 days, two of them half days', () => {
    // 365 days, less 104 days of weekends and 10 holidays.
    expect(byDay.size).toBe(251);
    expect([...byDay].filter(([, polls]) => polls.length !== 15).map(([day]) => day)).toEqual([
      '2026-11-27',
      '2026-12-24',
    ]);
  });
  test.each([
    ['a normal day', '2026-03-06'],
    ['the Monday after clocks go forward', '2026-03-09'],
    ['the Monday after clocks go back', '2026-11-02'],
    ['the day before a half day', '2026-11-25'],
  ])('%s: polls from the opening at the interval, and at the close', (_name, day) => {
    const whole = ['09:30', '10:00', '10:30', '11:00', '11:30', '12:00', '12:30'];
    const afternoon = ['13:00', '13:30', '14:00', '14:30', '15:00', '15:30', '16:00', '16:15'];
    expect(times(day)).toEqual([...whole, ...afternoon]);
  });
  test('a half day ends at 13:15', () => {
    expect(times('2026-11-27')?.slice(-3)).toEqual(['12:30', '13:00', '13:15']);
  });
  test.each([
    '2026-01-01',
    '2026-01-19',
    '2026-04-03',
    '2026-06-19',
    '2026-07-03',
    '2026-09-07',
    '2026-12-25',
    '2026-11-28',
  ])('does not poll on %s', (day) => {
    expect(times(day)).toBeUndefined();
  });
});

test.each([
  ['before the opening', '2026-11-20T08:00:00-05:00', '2026-11-20T09:45'],
  ['in the first minutes, which the delayed quotes do not show yet', '2026-11-20T09:35:00-05:00', '2026-11-20T09:45'],
  ['in the session', '2026-11-20T12:00:00-05:00', '2026-11-20T12:05'],
  ['just before the closing quotes are available', '2026-11-20T16:28:00-05:00', '2026-11-20T16:30'],
  ['when the closing quotes are available', '2026-11-20T16:30:00-05:00', '2026-11-23T09:45'],
  ['on Saturday', '2026-11-21T12:00:00-05:00', '2026-11-23T09:45'],
  ['the evening before a holiday', '2026-11-25T20:00:00-05:00', '2026-11-27T09:45'],
  ['past midnight', '2026-11-24T00:05:00-05:00', '2026-11-24T09:45'],
])('after a poll %s, a delayed source is polled again at the right time', (_name, start, second) => {
  expect(asks(pace(5, 15), at(start), at(start) + 4 * DAY_MS).slice(0, 2)).toEqual([
    newYorkTime(at(start)).slice(0, 16),
    second,
  ]);
});

test('a poll longer than the interval is followed at once, and misses neither close nor opening', () => {
  const times = asks(pace(5), at('2026-11-19T15:00:00-05:00'), at('2026-11-20T12:00:00-05:00'), 40 * MINUTE_MS);
  expect(times).toEqual([
    ...['2026-11-19T15:00', '2026-11-19T15:40', '2026-11-19T16:20'],
    ...['2026-11-20T09:30', '2026-11-20T10:10', '2026-11-20T10:50', '2026-11-20T11:30'],
  ]);
});

test('fetches the closing quotes once, however late', () => {
  const each = pace(5, 15);
  const polledAt = at('2026-11-20T14:00:00-05:00');
  const wokenAt = at('2026-11-21T12:00:00-05:00');
  expect(nextPollAt(each, polledAt, wokenAt)).toBe(wokenAt);
  expect(nextPollAt(each, polledAt, at('2026-11-23T08:00:00-05:00'))).toBe(at('2026-11-23T08:00:00-05:00'));
  expect(nextPollAt(each, wokenAt, wokenAt + 1)).toBe(at('2026-11-23T09:45:00-05:00'));
});

test('polls a source with hours "always" at its interval', () => {
  const each: Pace = { everyMs: 5_000, hours: 'always', delayMs: 0 };
  expect(nextPollAt(each, undefined, 100)).toBe(100);
  expect(nextPollAt(each, 100, 200)).toBe(5_100);
  expect(nextPollAt(each, 100, 9_000)).toBe(9_000);
});
