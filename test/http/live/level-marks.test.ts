import { describe, expect, test } from 'bun:test';
import { parseEventId } from '../../../src/http/live/event-ids.ts';
import {
  createMarkKeeper,
  type LevelMarks,
  markOf,
  OVERLAP_MS,
  parseMarks,
  summarizeMarks,
} from '../../../src/http/live/level-marks.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { keepLevels, MONDAY_MS } from '../../store/samples.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Marks of `counts` tickers each, at these times after MONDAY_MS. */
function marksAt(...groups: readonly (readonly [count: number, afterMs: number])[]): [string, number][] {
  return groups.flatMap(([count, afterMs], group) =>
    Array.from({ length: count }, (_, i): [string, number] => [`T${group}X${i}`, MONDAY_MS + afterMs]),
  );
}

/** Returns the shared mark, ms after MONDAY_MS, and the number of own marks. */
const shapeOf = ({ shared, own }: LevelMarks) => [shared - MONDAY_MS, own.size];

describe('the summary of marks', () => {
  test.each<[name: string, groups: [number, number][], shape: [number, number]]>([
    [
      'of tickers that are near each other is the earliest mark',
      [
        [40, MINUTE_MS],
        [1, 0],
        [18, 2 * MINUTE_MS],
      ],
      [0, 0],
    ],
    [
      'names a few that stopped early',
      [
        [59, HOUR_MS],
        [3, 0],
      ],
      [HOUR_MS, 3],
    ],
    [
      'names a few that go on',
      [
        [59, 0],
        [3, HOUR_MS],
      ],
      [0, 3],
    ],
    [
      'of few tickers names all but the largest group',
      [
        [1, 0],
        [3, HOUR_MS],
      ],
      [HOUR_MS, 1],
    ],
    [
      'repeats some hours of some tickers, rather than to lose one',
      [
        [30, 0],
        [29, 4 * HOUR_MS],
      ],
      [0, 12],
    ],
    [
      'loses some if it would repeat days of all',
      [
        [20, 0],
        [500, 20 * HOUR_MS],
      ],
      [20 * HOUR_MS, 12],
    ],
  ])('%s', (_, groups, shape) => {
    const given = marksAt(...groups);
    const marks = summarizeMarks(given, 0);
    expect(shapeOf(marks)).toEqual(shape);
    const later = given.filter(([ticker, ms]) => markOf(marks, ticker) > ms);
    expect(later.length).toBe(groups[0]![0] === 20 ? 8 : 0);
  });

  test('of no ticker is the given moment', () => {
    expect(shapeOf(summarizeMarks([], MONDAY_MS + 5_000))).toEqual([5_000, 0]);
  });

  test.each<[name: string, marks: LevelMarks]>([
    ['one moment', summarizeMarks(marksAt([5, 1_234]), 0)],
    [
      'own marks',
      summarizeMarks([...marksAt([40, HOUR_MS]), ['BRK.B', MONDAY_MS], ['ABCDEFGHIJ', MONDAY_MS + 9_999]], 0),
    ],
    ['as many as possible', summarizeMarks(marksAt([30, 0], [12, HOUR_MS + 999]), 0)],
  ])('is read back from the text of an id, in whole seconds: %s', (_, marks) => {
    const seconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;
    const read = parseMarks(marks.text);
    expect(read.shared).toBe(seconds(marks.shared));
    expect([...read.own]).toEqual([...marks.own].map(([ticker, ms]) => [ticker, seconds(ms)]));
    expect(parseEventId(`${marks.text}.log.1.2.abc`)).toMatchObject({ marks: read, seq: 1, keptAt: 2, log: 'log' });
    expect(marks.text.length).toBeLessThan(170);
  });
});

test('marks from memory and from the store are entries before the overlap, at each place that a stream may have', () => {
  let nowMs = MONDAY_MS;
  const store = openStore(':memory:', () => nowMs);
  const early = createMarkKeeper(store, false, () => nowMs);
  const tickers = ['SPX', 'QQQ', 'NONE'];
  early.at(tickers, 0, 0);
  for (let round = 0; round < 60; round++) {
    nowMs = MONDAY_MS + 15_000 * round + 500;
    // QQQ has levels each 75 seconds, and a stall.
    for (const underlying of round % 5 === 0 && (round < 20 || round > 40) ? ['SPX', 'QQQ'] : ['SPX']) {
      keepLevels(store, { underlying, asOf: MONDAY_MS + 15_000 * round });
      early.add(store.levelEvents(store.lastLevelSeq() - 1, 1, false)[0]!);
    }
    const head = store.lastLevelSeq();
    for (let seq = Math.max(1, head - 12); seq <= head; seq++) {
      for (const ticker of tickers) {
        const [known, read] = [early, createMarkKeeper(store, false, () => nowMs)].map(
          (keeper) => keeper.at([ticker], seq, head).shared,
        );
        const last = store.lastLevelEntry(ticker, seq, false);
        if (!last) {
          expect([known, read]).toEqual([nowMs - OVERLAP_MS, nowMs - OVERLAP_MS]);
          continue;
        }
        // Each is the moment of an entry, or of the start, before the overlap, and at most the overlap further back than needed.
        const moments = store.levelEventsOf([ticker], 0, 1_000, false).map(({ asOf }) => asOf);
        for (const mark of [known!, read!]) {
          const isEntry = moments.includes(mark) || mark === moments[0]! - 1;
          const isFar = last.asOf - mark >= OVERLAP_MS || mark <= moments[0]!;
          const between = moments.filter((asOf) => asOf > mark && asOf <= last.asOf - 2 * OVERLAP_MS);
          expect([ticker, seq, isEntry, isFar, between.length <= 1]).toEqual([ticker, seq, true, true, true]);
        }
      }
    }
  }
  store.close();
});
