import type { Database } from 'bun:sqlite';
import { OperatorError } from '../core/errors.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { SnapshotListing, SnapshotStore } from '../market/store.ts';
import { decodeChain, decodeHeader, encodeChain, isIntact } from './chain-codec.ts';
import { thinSimulated } from './thin-simulated.ts';

/** Called with each damaged snapshot that was set aside, and the id that it had. */
export type OnDamaged = (snapshot: SnapshotListing, id: number) => void;

/**
 * Creates the functions that read and write snapshots. A new simulated snapshot deletes older ones by `simulatedRetention`. A damaged
 * snapshot is set aside and reported to `onDamaged`; without `onDamaged`, reading it throws `OperatorError`. With `isCopy`, it is only
 * reported, because another database decides.
 */
export function chainTable(db: Database, onDamaged?: OnDamaged, isCopy = false): SnapshotStore {
  // REPLACE deletes the old row and inserts a row with a new id. A cache with the id as key therefore never returns the old snapshot.
  const insert = db.prepare<null, [SnapshotRow & { day: string }]>(
    `INSERT OR REPLACE INTO snapshots (simulated, underlying, as_of, day, spot, source, columns)
     VALUES ($simulated, $underlying, $asOf, $day, $spot, $source, $columns)`,
  );
  const insertDue = db.prepare<null, [number | bigint]>('INSERT INTO levels_due VALUES (?)');
  const thin = thinSimulated(db, 'snapshots');
  const selectLatest = db.prepare<{ id: number }, [number, string, number]>(
    'SELECT id FROM snapshots WHERE simulated = ? AND underlying = ? AND as_of <= ? ORDER BY as_of DESC LIMIT 1',
  );
  const selectById = db.prepare<SnapshotRow, [number]>(
    'SELECT simulated, underlying, as_of AS asOf, spot, source, columns FROM snapshots WHERE id = ?',
  );
  // The query uses the index to step from name to name. The query's time therefore grows with the number of underlyings, not of snapshots.
  const selectUnderlyings = db.prepare<{ name: string }, [number, string, number]>(
    `WITH RECURSIVE names (name) AS (
       SELECT min(underlying) FROM snapshots WHERE simulated = ?1 AND underlying >= ?2
       UNION ALL
       SELECT (SELECT min(underlying) FROM snapshots WHERE simulated = ?1 AND underlying > name)
       FROM names WHERE name IS NOT NULL
     ) SELECT name FROM names WHERE name IS NOT NULL LIMIT ?3`,
  );
  // If a query has max(), SQLite takes the id from the row with the maximum.
  const selectDaily = db.prepare<{ id: number }, [number, string, number, number]>(
    `SELECT id, max(as_of) FROM snapshots WHERE simulated = ? AND underlying = ? AND as_of BETWEEN ? AND ?
     GROUP BY day ORDER BY day`,
  );

  const selectAround = db.prepare<{ before: number | null; after: number | null }, [number, string, number, number]>(
    `SELECT (SELECT max(as_of) FROM snapshots WHERE simulated = ?1 AND underlying = ?2 AND as_of <= ?3) AS before,
       (SELECT min(as_of) FROM snapshots WHERE simulated = ?1 AND underlying = ?2 AND as_of > ?3 AND as_of <= ?4) AS after`,
  );
  const selectSnapshots = db.prepare<ListingRow, [string | null]>(
    `SELECT underlying, as_of AS asOf, source, simulated FROM snapshots WHERE ?1 IS NULL OR underlying = ?1
     ORDER BY underlying, as_of`,
  );
  const which = 'WHERE underlying = ?1 AND (?2 IS NULL OR as_of = ?2)';
  const tables = ['snapshots', 'levels', 'damaged_snapshots'];
  const countForgotten = db.prepare<{ count: number }, [string, number | null]>(
    `SELECT count(*) AS count FROM (${tables.map((table) => `SELECT simulated, as_of FROM ${table} ${which}`).join(' UNION ')})`,
  );
  const deletes = tables.map((table) => db.prepare<null, [string, number | null]>(`DELETE FROM ${table} ${which}`));
  const selectDamaged = db.prepare<ListingRow, []>(
    'SELECT underlying, as_of AS asOf, source, simulated FROM damaged_snapshots ORDER BY underlying, as_of',
  );
  const columnNames = 'id, simulated, underlying, as_of, day, spot, source, columns';
  const copyDamaged = db.prepare<null, [number]>(
    `INSERT OR REPLACE INTO damaged_snapshots (${columnNames}) SELECT ${columnNames} FROM snapshots WHERE id = ?`,
  );
  const selectIds = db.prepare<{ id: number }, []>('SELECT id FROM snapshots ORDER BY id');
  const selectCount = db.prepare<{ count: number }, []>('SELECT count(*) AS count FROM snapshots');
  const deleteById = db.prepare<null, [number]>('DELETE FROM snapshots WHERE id = ?');
  const replaceDamaged = db.prepare<null, [string, number, number]>(
    'DELETE FROM damaged_snapshots WHERE underlying = ? AND as_of = ? AND simulated = ?',
  );

  const save = db.transaction((chain: Chain): number => {
    const { simulated, underlying, asOf, spot, source } = chain;
    const row = { simulated: Number(simulated), underlying, asOf, day: newYorkDate(asOf), spot, source };
    const { lastInsertRowid } = insert.run({ ...row, columns: encodeChain(chain) });
    insertDue.run(lastInsertRowid);
    replaceDamaged.run(underlying, asOf, Number(simulated));
    if (simulated) thin(underlying, asOf);
    return Number(lastInsertRowid);
  });

  const forget = db.transaction((underlying: string, asOf: number | null): number => {
    const { count } = countForgotten.get(underlying, asOf)!;
    for (const statement of deletes) statement.run(underlying, asOf);
    return count;
  });

  const setAside = db.transaction((id: number) => {
    copyDamaged.run(id);
    deleteById.run(id);
  });
  /** Reads a snapshot with `decode`. Returns `undefined` if the snapshot was removed, or is damaged and was set aside. */
  const read = <T>(id: number, decode: (row: SnapshotRow, name: string) => T): T | undefined => {
    const row = selectById.get(id);
    if (!row) return undefined;
    try {
      return decode(row, `snapshot ${id} of ${row.underlying}`);
    } catch (error) {
      if (!(onDamaged && error instanceof OperatorError)) throw error;
      if (!isCopy) setAside.immediate(id);
      onDamaged(listingOf(row), id);
      return undefined;
    }
  };

  const chainIdAt = (underlying: string, simulated: boolean, instantMs: number) =>
    selectLatest.get(Number(simulated), underlying, instantMs)?.id;

  return {
    saveChain: (chain) => save.immediate(chain),

    latestChainId: (underlying, simulated, presentMs = Number.MAX_SAFE_INTEGER) =>
      chainIdAt(underlying, simulated, presentMs) ?? chainIdAt(underlying, simulated, Number.MAX_SAFE_INTEGER),
    chainIdAt,
    snapshotsAround: (underlying, simulated, instantMs, untilMs) =>
      selectAround.get(Number(simulated), underlying, instantMs, untilMs)!,

    chain: (id) => read(id, (row, name) => ({ ...fieldsOf(row), ...decodeChain(row.columns, name) })),
    snapshotHead: (id) => read(id, (row, name) => ({ ...listingOf(row), ...decodeHeader(row.columns, name) })),
    underlyings: (simulated, from = '', limit = -1) =>
      selectUnderlyings.all(Number(simulated), from, limit).map((row) => row.name),

    snapshots: (underlying) => selectSnapshots.all(underlying ?? null).map(listingOf),

    forgetSnapshots: (underlying, asOf) => forget.immediate(underlying, asOf ?? null),

    damagedSnapshots: () => selectDamaged.all().map(listingOf),
    *checkSnapshots() {
      for (const { id } of selectIds.all()) {
        const row = selectById.get(id);
        if (row) yield { ...listingOf(row), isDamaged: !isIntact(row.columns) };
      }
    },
    snapshotCount: () => selectCount.get()!.count,

    dailyChainIds: (underlying, fromMs, toMs, simulated) =>
      selectDaily.all(Number(simulated), underlying, fromMs, toMs).map((row) => row.id),
  };
}

function fieldsOf({ columns, simulated, ...same }: SnapshotRow) {
  return { ...same, simulated: simulated === 1 };
}

/** A listed snapshot as SQLite stores it. */
type ListingRow = Omit<SnapshotListing, 'simulated'> & { simulated: number };

function listingOf({ underlying, asOf, source, simulated }: ListingRow) {
  return { underlying, asOf, source, simulated: simulated === 1 };
}

type SnapshotRow = Pick<Chain, 'underlying' | 'asOf' | 'spot' | 'source'> & { simulated: number; columns: Uint8Array };
