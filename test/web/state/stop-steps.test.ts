import { describe, expect, test } from 'bun:test';
import {
  dayBeside,
  earlierStop,
  firstOfReplay,
  type Stops,
  stopAt,
  stopBeside,
  withStop,
} from '../../../web/state/stop-steps.ts';

/** Two days of one snapshot, one of three, and one of two. */
const at = [
  '2026-11-16T21:00:00.000Z',
  '2026-11-17T21:00:00.000Z',
  '2026-11-19T15:00:00.000Z',
  '2026-11-19T15:30:00.000Z',
  '2026-11-19T21:00:00.000Z',
  '2026-11-20T15:00:00.000Z',
  '2026-11-20T15:30:00.000Z',
];
const stops: Stops = {
  at,
  ms: at.map((each) => Date.parse(each)),
  day: at.map((each) => each.slice(0, 10)),
  spot: at.map((_, i) => 600 + i),
};
const none: Stops = { at: [], ms: [], day: [], spot: [] };

describe('a step from a moment', () => {
  test.each([
    ['a stop', '2026-11-19T15:30:00Z', 3, 2, 4],
    ['between two stops', '2026-11-19T16:00:00Z', 3, 3, 4],
    ['the first stop', '2026-11-16T21:00:00Z', 0, undefined, 1],
    ['before all stops', '2026-11-01T21:00:00Z', -1, undefined, 0],
    ['the newest stop', '2026-11-20T15:30:00Z', 6, 5, undefined],
    ['after all stops', '2026-11-21T15:30:00Z', 6, 6, undefined],
  ])('%s', (_, moment, newest, before, after) => {
    const ms = Date.parse(moment);
    expect(stopAt(stops, ms)).toBe(newest);
    expect([stopBeside(stops, ms, -1), stopBeside(stops, ms, 1)]).toEqual([before, after]);
  });

  test.each([
    ['2026-11-19', 1, 6],
    ['2026-11-17', 4, 0],
    ['2026-11-18', 4, 1],
    ['2026-11-16', 1, 0],
    ['2026-11-20', 6, 4],
    ['2026-11-25', 6, 6],
  ])('of a day from %s: to %d or %d', (date, a, b) => {
    expect([dayBeside(stops, date, 1), dayBeside(stops, date, -1)].toSorted()).toEqual([a, b].toSorted());
  });

  test('without stops goes nowhere', () => {
    expect([stopAt(none, 5), stopBeside(none, 5, 1), dayBeside(none, '2026-11-20', 1)]).toEqual([
      -1,
      undefined,
      undefined,
    ]);
  });
});

test('a replay begins with the newest day that has several snapshots', () => {
  expect(firstOfReplay(stops)).toBe(5);
  expect(firstOfReplay(withStop(stops, '2026-11-23T15:00:00.000Z', '2026-11-23', 610))).toBe(5);
  expect([firstOfReplay(none), firstOfReplay({ ...none, day: ['2026-11-19', '2026-11-20'] })]).toEqual([0, 0]);
});

test('only a newer snapshot becomes a stop', () => {
  const more = withStop(stops, '2026-11-20T16:00:00.000Z', '2026-11-20', 607);
  expect(more.at).toHaveLength(8);
  expect([more.ms.at(-1), more.day.at(-1), more.spot.at(-1)]).toEqual([Date.parse(more.at[7]!), '2026-11-20', 607]);
  expect(withStop(more, '2026-11-20T16:00:00.000Z', '2026-11-20', 1)).toBe(more);
  expect(withStop(more, '2026-11-19T16:00:00.000Z', '2026-11-19', 1)).toBe(more);
  expect(withStop(more, 'soon', '2026-11-23', 1)).toBe(more);
  expect(withStop(none, at[0]!, '2026-11-16', 1).at).toEqual([at[0]!]);
});

describe('the moment that a page is compared with', () => {
  test.each([
    ['close', '2026-11-20T15:30:00Z', '2026-11-20', 4],
    ['close', '2026-11-19T15:00:00Z', '2026-11-19', 1],
    ['close', '2026-11-16T21:00:00Z', '2026-11-16', -1],
    ['open', '2026-11-19T21:00:00Z', '2026-11-19', 2],
    ['open', '2026-11-19T15:00:00Z', '2026-11-19', -1],
    ['hour', '2026-11-19T21:00:00Z', '2026-11-19', 3],
    ['hour', '2026-11-20T15:30:00Z', '2026-11-20', 4],
    ['hour', '2026-11-16T21:00:00Z', '2026-11-16', -1],
  ] as const)('%s before %s', (name, moment, date, index) => {
    expect(earlierStop(stops, Date.parse(moment), date, name)).toBe(index);
    expect(earlierStop(none, Date.parse(moment), date, name)).toBe(-1);
  });
});
