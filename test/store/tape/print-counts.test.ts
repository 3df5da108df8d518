import type { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { randomOf } from '../../../src/feeds/simulated/random.ts';
import { addDays, newYorkInstant } from '../../../src/market/calendar.ts';
import { retention } from '../../../src/store/remove-old.ts';
import { printCounts, SLOT_MS } from '../../../src/store/tape/print-counts.ts';
import { printTable } from '../../../src/store/tape/print-table.ts';
import { DAY_MS, memoryDatabase, printOf } from '../samples.ts';

/** Compares the counts by minute with counts of the rows themselves. */
const SMALL = { part: 24, atOnce: 20, rows: 16, indexed: 50 };
const DAY = '2026-01-05';
const FIRST = newYorkInstant(DAY, '09:30');
const MOST = Number.MAX_SAFE_INTEGER;

function counted(db: Database) {
  return db
    .query(
      `SELECT simulated, underlying, CAST(floor(at / ${SLOT_MS}.0) AS INTEGER) AS slot, count(*) AS entries, sum(canceled) AS canceled
       FROM prints GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    )
    .all();
}

const storedCounts = (db: Database) => db.query('SELECT * FROM print_counts ORDER BY 1, 2, 3').all();

const within = (db: Database, simulated: number, underlying: string, fromMs: number, toMs: number) =>
  db
    .query(
      `SELECT count(*) AS entries, ifnull(sum(canceled), 0) AS canceled FROM prints
       WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ?`,
    )
    .get(simulated, underlying, fromMs, toMs);

describe.each([1, 2, 3])('seed %p', (seed) => {
  const random = randomOf(seed, 6);
  const below = (count: number) => Math.floor(count * random.uniform());
  /** Prints of three days and two tickers, with duplicates, corrections (also of time and ticker) and cancellations. */
  const batch = () =>
    Array.from({ length: below(120) }, () => {
      const id = below(400);
      return printOf(`p${id}`, {
        simulated: id % 7 === 0,
        underlying: (id + below(20)) % 5 === 0 ? 'NDX' : 'SPX',
        at: FIRST + (id % 3) * DAY_MS + (id % 11) * 20_000 + (below(5) === 0 ? below(3 * SLOT_MS) : 0),
        size: 1 + below(3),
        canceled: below(12) === 0,
      });
    });

  test('after any writes, packing and removal, each minute with rows has their count, others none', () => {
    const db = memoryDatabase();
    const [table, { removeOld }, counts] = [printTable(db, SMALL), retention(db), printCounts(db)];
    const steps = [
      () => void table.savePrints(batch()),
      () => void table.savePrints(batch(), { atOnce: true }),
      () => table.packTape(addDays(DAY, 1), { rowsAtOnce: 17 }).next(),
      () => void table.packTape(addDays(DAY, 2), { rowsAtOnce: 17 }).toArray(),
      () => removeOld({ printsFromMs: newYorkInstant(addDays(DAY, 1), '00:00'), presentMs: FIRST + 9 * DAY_MS }),
    ];
    for (let round = 0; round < 60; round++) {
      steps[Math.min(below(8), 4)]!();
      expect(storedCounts(db)).toEqual(counted(db));
      const from = FIRST + below(3) * DAY_MS + below(5 * SLOT_MS) - SLOT_MS;
      const ranges: [from: number, to: number][] = [
        [0, MOST],
        [from, from + below(2 * DAY_MS)],
        [from, from + below(SLOT_MS)],
        [from, from],
        [from, from - 1 - below(SLOT_MS)],
        [from - DAY_MS, FIRST + below(3) * DAY_MS + 200_000],
      ];
      for (const range of ranges) {
        expect([range, counts.of(0, 'SPX', ...range) as unknown]).toEqual([range, within(db, 0, 'SPX', ...range)]);
      }
    }
    expect(counts.of(0, 'SPX', 0, MOST).entries).toBeGreaterThan(20);
  });
});

test('a failed save adds no counts, and the next save counts only its own prints', () => {
  const db = memoryDatabase();
  const table = printTable(db);
  table.savePrints([printOf('a')]);
  const before = storedCounts(db);
  expect(() => table.savePrints([printOf('b'), printOf('c', { strike: Number.NaN })])).toThrow('NOT NULL');
  expect(storedCounts(db)).toEqual(before);
  table.savePrints([printOf('d')]);
  expect(storedCounts(db)).toEqual(counted(db));
});
