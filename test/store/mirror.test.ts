import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { type ChangeSet, type Mirror, openMirror } from '../../src/store/mirror.ts';
import { mirroredSchema, quoted, rowKeyOf } from '../../src/store/mirrored-tables.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';
import { chainOf, closeWith, DAY_MS, MONDAY_MS, printOf, recordOf } from './samples.ts';

const CLUSTER = 'a';
const NOW_MS = MONDAY_MS + 60 * DAY_MS;
const MEMBER = {
  ...{ tier: 'member', status: 'active' as const, expiresAt: null, accountId: 'c', generation: 0 },
  ...{ previousDigest: null, previousUntil: null },
};
const ENTRY = { atMs: 1, actor: 'a', client: null, action: 'member_added', account: null, result: 'ok', detail: null };
const RECEIVED = { feed: 'files', expected: 9, received: 8, refused: {} };

/** Writes of every kind; `n` is any number. Each depends on what is stored. */
const WRITES: readonly ((tx: Store, n: number) => unknown)[] = [
  (tx, n) => tx.saveChain(chainOf({ asOf: MONDAY_MS + n * 60_000, simulated: n % 2 === 0, count: 4 + (n % 3) })),
  (tx, n) => tx.saveChain(chainOf({ asOf: MONDAY_MS + (n % 4) * DAY_MS, simulated: false })),
  (tx, n) => {
    for (const id of tx.levelsDue().slice(0, 1 + (n % 3))) {
      const { underlying, asOf, simulated } = tx.chain(id)!;
      tx.saveLevels(id, n % 7 === 0 ? undefined : recordOf({ underlying, asOf, simulated, spot: n }));
    }
  },
  (tx, n) => tx.forgetSnapshots('SPX', n % 5 === 0 ? undefined : MONDAY_MS + (n % 4) * DAY_MS),
  (tx, n) => {
    const day = n % 3;
    const prints = Array.from({ length: 1 + (n % 40) }, (_, i) =>
      printOf(`${n % 9}-${i}`, { at: MONDAY_MS + day * DAY_MS + i * 1_000, size: 40 * (n % 5) + 1, simulated: false }),
    );
    tx.savePrints(prints, { atOnce: n % 2 === 0 });
  },
  (tx, n) =>
    tx.savePrints([printOf(`${n % 9}-0`, { canceled: true, simulated: false, at: MONDAY_MS + (n % 3) * DAY_MS })]),
  (tx) => [...tx.packTape('2026-02-01', { rowsAtOnce: 16 })],
  (tx, n) =>
    tx.removeOld({
      presentMs: NOW_MS,
      ...(n % 2 === 0
        ? { printsFromMs: MONDAY_MS + DAY_MS }
        : { chainsFromMs: MONDAY_MS + DAY_MS, levelsFromMs: MONDAY_MS }),
    }),
  (tx, n) => tx.sumPrintsFrom(1_000 * (n % 4)),
  (tx, n) => tx.saveCloses([closeWith({ close: n / 3, date: `2026-01-0${1 + (n % 9)}` })]),
  (tx, n) =>
    tx.saveDividends([
      { ticker: 'SPX', exDate: '2026-01-09', amount: n / 7, status: 'declared', knownFrom: n, simulated: false },
    ]),
  (tx, n) => tx.openFeeds([{ name: n % 2 === 0 ? 'files' : 'massive', simulated: false, tickers: ['SPY', 'SPX'] }]),
  (tx, n) => tx.forgetFeed(n % 2 === 0 ? 'files' : 'massive'),
  (tx, n) => tx.pollBegan('files', n),
  (tx, n) =>
    tx.pollEnded({ feed: 'files', beganAt: n, endedAt: n + 1, nextAt: n + 2, error: n % 3 === 0 ? 'failed' : null }),
  (tx, n) => tx.snapshotReceived({ ...RECEIVED, ticker: 'SPX', at: n, asOf: n, isFresh: n % 2 === 0 }),
  (tx, n) => tx.rejected({ feed: 'files', origin: `${n % 3}.csv`, reason: `row ${n}`, ticker: 'SPX', at: n }),
  (tx, n) => tx.resolved('files', n % 2 === 0 ? { origin: `${n % 3}.csv` } : { ticker: 'SPX' }),
  (tx, n) => tx.connection('massive', n % 2 === 0, n, n % 2 === 0 ? null : 'lost'),
  (tx, n) => tx.setCheckpoint('files', `${n % 3}.csv`, n % 4 === 0 ? null : `${n}`),
  (tx, n) => tx.pastFilled('files', { done: n, total: n + 1 }),
  (tx, n) => tx.clockStepped({ sinceMs: n, byMs: n % 2 === 0 ? 0 : n, nowMs: 2 * n }),
  (tx, n) => tx.saveMember({ ...MEMBER, uuid: `u${n % 4}`, keyDigest: `d${n % 4} ${n}` }),
  (tx, n) => {
    if (tx.member(`u${n % 4}`))
      tx.saveTelegramLink(`u${n % 4}`, { telegramId: `${n}`, routing1dte: true, routingRadar: false, lastPingAt: n });
  },
  (tx, n) => tx.saveAudit({ ...ENTRY, atMs: n }),
  (tx, n) => tx.markAuditLogged(n),
  (tx, n) =>
    tx
      .horizonsDue()
      .slice(0, 1)
      .map((id) => tx.fillHorizons(id, n % 2 === 0 ? undefined : recordOf())),
];

/** All rows of a database file, with the ids that SQLite gives. */
function rowsIn(path: string): Record<string, unknown[]> {
  const db = new Database(path, { readonly: true });
  const rows = Object.fromEntries(
    mirroredSchema().tables.map(({ name, columns, key }) => {
      const all = db.query(
        `SELECT ${columns.map((each) => quoted(each.name))} FROM ${quoted(name)} ORDER BY ${key.map(quoted)}`,
      );
      return [name, all.values()];
    }),
  );
  const sequences = db.query('SELECT name, seq FROM sqlite_sequence ORDER BY name').values();
  db.close();
  return { ...rows, sequences };
}

/** The same values in other objects, as after a journey over a network. */
const travelled = (changes: ChangeSet): ChangeSet => structuredClone(changes);

const mirrorAt = (path: string): Mirror =>
  openMirror(
    path,
    () => NOW_MS,
    () => {},
  );

/** Takes changes as a database does that knows only the keys of the tables. */
function keep(log: Map<string, Map<string, unknown>>, { tables, sequences }: ChangeSet): void {
  for (const { table, rows, removed } of tables) {
    const kept = log.getOrInsertComputed(table.name, () => new Map());
    for (const key of removed) kept.delete(JSON.stringify(key));
    for (const row of rows) kept.set(JSON.stringify(rowKeyOf(table, row)), row);
  }
  for (const each of sequences) log.getOrInsertComputed('sequences', () => new Map()).set(each[0], each);
}

test('mirrors have the rows, ids and errors that one database has after the same writes', () =>
  withFolder(async (folder) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(WRITES.length - 1), fc.nat(500)), { maxLength: 40 }),
        async (writes) => {
          const prefix = `${run++}`;
          const path = (name: string) => join(folder, `${prefix}-${name}`);
          const plain = openStore(path('plain'), () => NOW_MS);
          const mirrors = ['a', 'b'].map((name) => mirrorAt(path(name)));
          const log = new Map<string, Map<string, unknown>>();
          for (const [place, [which, n]] of writes.entries()) {
            const work = (tx: Store) => WRITES[which]!(tx, n);
            let error: unknown;
            try {
              plain.transaction(() => work(plain));
            } catch (thrown) {
              error = (thrown as Error).message;
            }
            // Any mirror may decide the next write.
            const decides = mirrors[n % 2]!;
            let changes: ChangeSet;
            try {
              ({ changes } = decides.rehearse(work, 0));
            } catch (thrown) {
              expect((thrown as Error).message).toEqual(error as string);
              continue;
            }
            expect(error).toBeUndefined();
            for (const mirror of mirrors)
              mirror.apply(travelled(changes), { cluster: CLUSTER, place: place + 1, copied: null });
            keep(log, changes);
          }
          for (const mirror of mirrors) mirror.close();
          plain.close();
          const expected = rowsIn(path('plain'));
          for (const name of ['a', 'b']) expect(rowsIn(path(name))).toEqual(expected);
          const texts = (rows: Iterable<unknown>) => Array.from(rows, (row) => Bun.inspect(row)).sort();
          for (const [name, rows] of Object.entries(expected))
            expect([name, texts(log.get(name)?.values() ?? [])]).toEqual([name, texts(rows)]);
        },
      ),
      { numRuns: process.env.ZOMMA_TESTS_FULL === 'true' ? 300 : 25 },
    );
  }));
