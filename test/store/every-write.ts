import { Database } from 'bun:sqlite';
import { mirroredSchema, quoted } from '../../src/store/mirrored-tables.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { chainOf, closeWith, DAY_MS, MONDAY_MS, printOf, recordOf } from './samples.ts';

/** The time of all stores that make these writes. */
export const NOW_MS = MONDAY_MS + 60 * DAY_MS;
const MEMBER = {
  ...{ tier: 'member', status: 'active' as const, expiresAt: null, accountId: 'c', generation: 0 },
  ...{ previousDigest: null, previousUntil: null },
};
const ENTRY = { atMs: 1, actor: 'a', client: null, action: 'member_added', account: null, result: 'ok', detail: null };
const RECEIVED = { feed: 'files', expected: 9, received: 8, refused: {} };

/** Writes of every kind; `n` is any number. Each depends on what is stored. */
export const WRITES: readonly ((tx: Store, n: number) => unknown)[] = [
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
  (tx, n) => tx.markAuditLogged([...tx.unloggedAudit().keys()][n % 3] ?? 0),
  (tx, n) =>
    tx
      .horizonsDue()
      .slice(0, 1)
      .map((id) => tx.fillHorizons(id, n % 2 === 0 ? undefined : recordOf())),
];

/** All rows of a database file, with the ids that SQLite gives. */
export function rowsIn(path: string): Record<string, unknown[]> {
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
