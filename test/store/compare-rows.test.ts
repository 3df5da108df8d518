import { expect, test } from 'bun:test';
import { compareRows } from '../../src/store/compare-rows.ts';
import { sqliteRows } from '../../src/store/table-rows.ts';
import { memoryDatabase } from './samples.ts';

const PRINT = `INSERT INTO prints (rowid, simulated, id, underlying, root, expiry, call_put, strike, price, size, multiplier, at, side, delta,
  multi_leg, canceled, bid, ask, sweep, block)`;
const BASE = [
  // Each database gets a random name of its log.
  `UPDATE level_log SET name = 'ab'`,
  `INSERT INTO closes VALUES (0, 'SPX', '2026-01-05', 0.1, NULL), (0, 'SPX', '2026-01-06', 1, 0)`,
  `INSERT INTO feed_marks VALUES ('files', 'ab', 'c'), ('files', 'x', ''), ('files', 'ü', '日本')`,
  `INSERT INTO snapshots VALUES (7, 0, 'SPX', 1, '2026-01-05', 6000, 'a', x'0001')`,
  `INSERT INTO audit VALUES (3, 1, 'a', NULL, 'b', NULL, 'ok', NULL, 0)`,
  `${PRINT} VALUES (5, 0, 'p', 'SPX', 'SPXW', '2026-01-16', 1, 5900, 1, 1, 100, 1, 'ask', NULL, 0, 0, NULL, NULL, 0, 0)`,
];

async function differing(changes: readonly string[]): Promise<string[]> {
  const [a, b] = [memoryDatabase(), memoryDatabase()];
  for (const statement of BASE) for (const db of [a, b]) db.run(statement);
  for (const statement of changes) b.run(statement);
  const compared = await compareRows(sqliteRows(a), sqliteRows(b), () => {});
  return compared.filter(({ isEqual }) => !isEqual).map(({ table }) => table);
}

test('equal rows are equal, whatever was written meanwhile', async () => {
  expect(await differing([])).toEqual([]);
  expect(
    await differing([`UPDATE closes SET close = 2`, `UPDATE closes SET close = iif(volume IS NULL, 0.1, 1)`]),
  ).toEqual([]);
});

test.each([
  ['the last bit of a double', 'closes', 'UPDATE closes SET close = 1.0000000000000002 WHERE volume = 0'],
  ['0 in place of null', 'closes', 'UPDATE closes SET volume = 0 WHERE volume IS NULL'],
  ['text that moves to the next cell', 'feed_marks', `UPDATE feed_marks SET key = 'a', value = 'bc' WHERE key = 'ab'`],
  ['a letter of more bytes', 'feed_marks', `UPDATE feed_marks SET value = '日木' WHERE key = 'ü'`],
  ['a byte', 'snapshots', `UPDATE snapshots SET columns = x'0002'`],
  ['one byte less', 'snapshots', `UPDATE snapshots SET columns = x'00'`],
  ['no byte', 'snapshots', `UPDATE snapshots SET columns = x''`],
  ['a row more', 'closes', `INSERT INTO closes VALUES (0, 'SPX', '2026-01-07', 1, 0)`],
  ['a row less', 'closes', `DELETE FROM closes WHERE volume = 0`],
  ['another order of arrival', 'prints', 'UPDATE prints SET rowid = 6'],
  ['another name of the log', 'level_log', `UPDATE level_log SET name = 'ba'`],
  ['another last id', 'sqlite_sequence', `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'audit'`],
])('%s is a difference in %s', async (_, table, change) => {
  expect(await differing([change])).toEqual([table]);
});
