import { Database, type Statement } from 'bun:sqlite';
import { captureChanges } from './capture.ts';
import { dataVersions, type WrittenData } from './data-versions.ts';
import { SCHEMA } from './folder/upgrade.ts';
import { migrate, schemaOf } from './migrations.ts';
import {
  type MirroredTable,
  mirroredSchema,
  quoted,
  rowKeyOf,
  type StoredCell,
  type TableChanges,
} from './mirrored-tables.ts';
import type { OnDamaged } from './snapshot-table.ts';
import { configure, makePrivate, type SharedStore, type Store, storeOn } from './sqlite.ts';

/** The changes of one or several transactions, as they travel between servers. */
export interface ChangeSet {
  readonly tables: readonly TableChanges[];
  /** The last given ids of the tables that never give an id twice. */
  readonly sequences: readonly (readonly [table: string, last: number])[];
  readonly written: WrittenData;
}

/** Which log a mirror follows, and how far it has come. */
export interface MirrorPlace {
  readonly cluster: string;
  /** The place up to which the mirror has the log. While `copied` is set, the mirror has only some rows. */
  readonly place: number;
  /** The last copied row of the first copy of all rows. Null if the copy is complete. */
  readonly copied: { readonly table: string; readonly key: readonly StoredCell[] | null } | null;
}

/** The rows that a mirror has changed at a place of the log. */
export interface AppliedRow {
  readonly table: MirroredTable;
  readonly key: readonly StoredCell[];
}

/**
 * A copy of the rows that a log decides, in a database file of this server. Reads are those of any store. A write is rehearsed: it runs in
 * a transaction that is undone, and yields its changes. They become part of the mirror when the log has them.
 */
export interface Mirror {
  readonly store: Omit<SharedStore, 'write'>;
  /** Returns the place of the mirror, or undefined if it is new. */
  readonly place: () => MirrorPlace | undefined;
  /** Runs `work` in a transaction, and undoes it. Ids of rows begin after `idsAfter`. If `work` throws, throws the same. */
  rehearse<Result>(
    work: (tx: Store) => Result,
    idsAfter: number,
  ): { readonly result: Result; readonly changes: ChangeSet };
  /**
   * Takes changes of the log, and the place that the mirror then has, in one transaction. `from` is the place to which they belong. Does nothing if
   * another process has meanwhile moved the mirror, which then has these changes.
   */
  apply(changes: ChangeSet, place: MirrorPlace, from: MirrorPlace | undefined): void;
  /** Returns the places at which the mirror has changed rows, the newest first. */
  appliedPlaces(): number[];
  /** Returns the rows that were changed after a place. */
  appliedAfter(place: number): AppliedRow[];
  /** Forgets which rows were changed up to a place. */
  forgetApplied(upTo: number): void;
  /** Removes all rows, and makes the mirror new. */
  clear(): void;
  /** Forgets what rehearsals hold in memory, after a rehearsal whose changes did not become part of the log. */
  reset(): void;
  close(): void;
}

/** Opens the mirror at `path`, or creates an empty one. Throws an error with the code `MIRROR_SCHEMA` if it has another schema. */
export function openMirror(path: string, nowMs: () => number, onDamaged: OnDamaged): Mirror {
  const schema = mirroredSchema();
  makePrivate(path);
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  db.run('PRAGMA busy_timeout = 5000');
  configure(db);
  // What the mirror lacks after a power cut, it gets from the log again.
  db.run('PRAGMA synchronous = NORMAL');
  // References hold where the changes were decided. Rows may arrive in another order.
  db.run('PRAGMA foreign_keys = OFF');
  const present = schemaOf(db);
  if (present !== 0 && present !== SCHEMA) {
    db.close(true);
    const message = `the mirror has schema ${present}, and this program needs schema ${SCHEMA}`;
    throw Object.assign(new Error(message), { code: 'MIRROR_SCHEMA' });
  }
  migrate(db);
  for (const { name } of schema.triggers) db.run(`DROP TRIGGER IF EXISTS ${quoted(name)}`);
  db.run(
    `CREATE TABLE IF NOT EXISTS mirror_place
       (one INTEGER PRIMARY KEY CHECK (one = 1), cluster TEXT NOT NULL, place INTEGER NOT NULL, copied TEXT) STRICT`,
  );
  db.run(
    'CREATE TABLE IF NOT EXISTS mirror_applied (place INTEGER NOT NULL, tbl TEXT NOT NULL, key TEXT NOT NULL) STRICT',
  );
  db.run('CREATE INDEX IF NOT EXISTS mirror_applied_by_place ON mirror_applied (place)');
  const versions = dataVersions(db);
  const store = storeOn(db, nowMs, onDamaged, versions, true);
  const writers = new Map(schema.tables.map((table) => [table.name, rowWriter(db, table)]));
  const selectPlace = db.prepare<{ cluster: string; place: number; copied: string | null }, []>(
    'SELECT cluster, place, copied FROM mirror_place',
  );
  const putPlace = db.prepare<null, [string, number, string | null]>(
    'INSERT OR REPLACE INTO mirror_place VALUES (1, ?, ?, ?)',
  );
  const insertApplied = db.prepare<null, [number, string, string]>('INSERT INTO mirror_applied VALUES (?, ?, ?)');
  const selectApplied = db.prepare<{ tbl: string; key: string }, [number]>(
    'SELECT DISTINCT tbl, key FROM mirror_applied WHERE place > ?',
  );
  const selectPlaces = db.prepare<{ place: number }, []>(
    'SELECT DISTINCT place FROM mirror_applied ORDER BY place DESC',
  );
  const deleteApplied = db.prepare<null, [number]>('DELETE FROM mirror_applied WHERE place <= ?');
  const deleteLost = db.prepare<null, [number]>('DELETE FROM mirror_applied WHERE place > ?');
  const clearAll = db.transaction(() => {
    const emptied = [...schema.tables.map(({ name }) => name), 'sqlite_sequence', 'mirror_place', 'mirror_applied'];
    for (const name of emptied) db.run(`DELETE FROM ${quoted(name)}`);
  });
  const putSequence = sequenceWriter(db);
  const presentPlace = (): MirrorPlace | undefined => {
    const row = selectPlace.get();
    return row ? { ...row, copied: row.copied === null ? null : JSON.parse(row.copied) } : undefined;
  };
  const applyAll = db.transaction(
    ({ tables, sequences }: ChangeSet, next: MirrorPlace, from: MirrorPlace | undefined) => {
      if (!Bun.deepEquals(presentPlace(), from)) return;
      const { cluster, place, copied } = next;
      // A former primary has the places that a fail-over has lost. The mirror no longer has what was changed there.
      if (from && place < from.place) deleteLost.run(place);
      for (const { table, rows, removed } of tables) {
        const { put, remove } = writers.get(table.name)!;
        for (const key of removed) remove.run(...(key as StoredCell[]));
        for (const row of rows) put.run(...(row as StoredCell[]));
        for (const key of [...removed, ...rows.map((row) => rowKeyOf(table, row))])
          if (!copied) insertApplied.run(place, table.name, JSON.stringify(key));
      }
      for (const [table, last] of sequences) putSequence(table, last);
      putPlace.run(cluster, place, copied && JSON.stringify(copied));
    },
  );

  let rehearsal: ReturnType<typeof openRehearsal> | undefined;
  return {
    store,
    place: presentPlace,
    rehearse(work, idsAfter) {
      rehearsal ??= openRehearsal(path, nowMs, onDamaged);
      return rehearsal.run(work, idsAfter);
    },
    apply: (changes, place, from) => versions.repeated(changes.written, () => applyAll.immediate(changes, place, from)),
    appliedPlaces: () => selectPlaces.all().map(({ place }) => place),
    clear: () => clearAll.immediate(),
    appliedAfter: (place) =>
      selectApplied.all(place).map(({ tbl, key }) => ({
        table: schema.tables.find(({ name }) => name === tbl)!,
        key: JSON.parse(key) as StoredCell[],
      })),
    forgetApplied: (upTo) => void versions.uncounted(() => deleteApplied.run(upTo)),
    reset() {
      rehearsal?.close();
      rehearsal = undefined;
    },
    close() {
      rehearsal?.close();
      store.close();
    },
  };
}

/** Prepares the statements that write and remove a row of a table. */
function rowWriter(
  db: Database,
  { name, columns, key }: MirroredTable,
): Record<'put' | 'remove', Statement<null, StoredCell[]>> {
  const names = columns.map((column) => quoted(column.name)).join(', ');
  const values = columns.map(() => '?').join(', ');
  const where = key.map((each) => `${quoted(each)} = ?`).join(' AND ');
  return {
    put: db.prepare(`INSERT OR REPLACE INTO ${quoted(name)} (${names}) VALUES (${values})`),
    remove: db.prepare(`DELETE FROM ${quoted(name)} WHERE ${where}`),
  };
}

/** Returns a function that sets the last given id of a table. */
function sequenceWriter(db: Database): (table: string, last: number) => void {
  const update = db.prepare<null, [number, string]>('UPDATE sqlite_sequence SET seq = ? WHERE name = ?');
  const insert = db.prepare<null, [string, number]>('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  return (table, last) => {
    if (update.run(last, table).changes === 0) insert.run(table, last);
  };
}

/** Opens a second connection, on which writes are tried. It never commits, so no reader sees them. */
function openRehearsal(path: string, nowMs: () => number, onDamaged: OnDamaged) {
  const { tables, triggers } = mirroredSchema();
  const db = new Database(path, { readwrite: true, strict: true });
  db.run('PRAGMA busy_timeout = 5000');
  db.run('PRAGMA foreign_keys = ON');
  const capture = captureChanges(db, { tables, triggers });
  const versions = dataVersions(db);
  const store = storeOn(db, nowMs, onDamaged, versions);
  const selectSequences = db.prepare<{ name: string; seq: number }, []>('SELECT name, seq FROM sqlite_sequence');
  const sequences = () => new Map(selectSequences.all().map(({ name, seq }) => [name, seq]));
  const putSequence = sequenceWriter(db);
  const numbered = db
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`)
    .all();
  return {
    run<Result>(work: (tx: Store) => Result, idsAfter: number): { result: Result; changes: ChangeSet } {
      db.run('BEGIN IMMEDIATE');
      try {
        capture.clear();
        const before = sequences();
        for (const { name } of numbered) if ((before.get(name) ?? 0) < idsAfter) putSequence(name, idsAfter);
        const { result, written } = versions.observed(() => store.transaction(() => work(store)));
        const changed = [...sequences()].filter(([name, last]) => before.get(name) !== last);
        return { result, changes: { tables: capture.changes(), sequences: changed, written } };
      } finally {
        if (db.inTransaction) db.run('ROLLBACK');
      }
    },
    close: () => db.close(true),
  };
}
