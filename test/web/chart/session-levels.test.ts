import { expect, test } from 'bun:test';
import { lastSessions, sessionReadout, sessionsTable } from '../../../web/chart/session-levels.tsx';
import type { History, Levels } from '../../../web/data/page-answers.ts';

const days = Array.from({ length: 30 }, (_, i) => `2026-10-${String(i + 1).padStart(2, '0')}`);
const as_of = days.flatMap((day) => [`${day}T15:00:00.000Z`, `${day}T20:00:00.000Z`]);
const history = {
  as_of,
  day: as_of.map((at) => at.slice(0, 10)),
  spot: as_of.map((_, i) => 100 + i),
  gex_flip: as_of.map(() => 98),
  flip_resolved: as_of.map((_, i) => i !== 59),
  call_wall: as_of.map(() => 110),
  put_wall: as_of.map(() => 90),
} as unknown as History;

test('each of the last sessions has the levels of its last snapshot, and an unresolved flip is unknown', () => {
  const sessions = lastSessions(history, as_of.at(-1)!, undefined);
  expect(sessions.length).toBe(20);
  expect(sessions.map(({ at }) => at)).toEqual(days.slice(-20).map((day) => `${day}T20:00:00.000Z`));
  expect(sessions.at(-1)).toEqual({ at: as_of.at(-1)!, spot: 159, flip: null, callWall: 110, putWall: 90 });
  expect(sessionReadout(sessions[0]!)).toBe('11 Oct: spot 121.00, flip 98.00, walls 90, 110');
  expect(sessionsTable(sessions, () => {}).rows[0]).toEqual([as_of.at(-1)!, 159, null, 110, 90]);
});

test('at an earlier moment the later sessions are unknown, and the present levels are those of the page', () => {
  const present = { spot_price: 7, gex_flip: 8, flip_resolved: true, call_wall: 9, put_wall: 6 } as Levels;
  const sessions = lastSessions(history, as_of[4]!, present);
  expect(sessions.map(({ spot }) => spot)).toEqual([101, 103, 7]);
  expect(lastSessions(undefined, as_of[4]!, present).map(({ at }) => at)).toEqual([as_of[4]!]);
  expect(lastSessions(undefined, as_of[4]!, undefined)).toEqual([]);
});
