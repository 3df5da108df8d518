import type { Database } from 'bun:sqlite';
import {
  type MirroredSchema,
  type MirroredTable,
  quoted,
  type StoredCell,
  type TableChanges,
} from './mirrored-tables.ts';

/** Notes which rows the writes of a connection change. */
export interface ChangeCapture {
  /** Forgets what was noted so far. */
  clear(): void;
  /** Returns the rows that were changed since `clear`, as they are now. Callers must call this method within the transaction. */
  changes(): TableChanges[];
}

/**
 * Starts to note the changed rows of a connection, by triggers that only this connection has. The schema's own triggers, which the file
 * lacks, are also triggers of this connection, so that they run once, where a change is decided.
 */
export function captureChanges(db: Database, { tables, triggers }: MirroredSchema): ChangeCapture {
  db.run('PRAGMA temp_store = MEMORY');
  // Otherwise, SQLite would not report the rows that INSERT OR REPLACE removes.
  db.run('PRAGMA recursive_triggers = ON');
  for (const { sql } of triggers) db.run(sql.replace(/^CREATE TRIGGER/, 'CREATE TEMP TRIGGER'));
  const of = tables.map((table, i) => captureOf(db, table, i));
  return {
    clear() {
      for (const { clear } of of) clear();
    },
    changes: () => of.map(({ changes }) => changes()).filter(({ rows, removed }) => rows.length + removed.length > 0),
  };
}

function captureOf(db: Database, table: MirroredTable, i: number) {
  const { name, key } = table;
  const keys = key.map(quoted);
  const changed = `temp.changed_${i}`;
  db.run(`CREATE TEMP TABLE changed_${i} (${keys.join(', ')}, PRIMARY KEY (${keys.join(', ')})) WITHOUT ROWID`);
  for (const [event, sides] of [
    ['INSERT', ['NEW']],
    ['UPDATE', ['OLD', 'NEW']],
    ['DELETE', ['OLD']],
  ] as const) {
    // A statement with a conflict clause would override OR IGNORE in its triggers.
    const note = sides.map((side) => {
      const values = keys.map((each) => `${side}.${each}`);
      const isKnown = keys.map((each, k) => `${each} = ${values[k]}`).join(' AND ');
      return `INSERT INTO changed_${i} SELECT ${values.join(', ')} WHERE NOT EXISTS (SELECT * FROM changed_${i} WHERE ${isKnown});`;
    });
    db.run(
      `CREATE TEMP TRIGGER capture_${event}_${i} AFTER ${event} ON main.${quoted(name)} BEGIN ${note.join(' ')} END`,
    );
  }
  const join = keys.map((each) => `main.${quoted(name)}.${each} = ${changed}.${each}`).join(' AND ');
  const columns = table.columns.map((column) => `main.${quoted(name)}.${quoted(column.name)}`);
  const select = db.prepare<unknown, []>(
    `SELECT ${columns.join(', ')} FROM ${changed} CROSS JOIN main.${quoted(name)} ON ${join}`,
  );
  const selectRemoved = db.prepare<unknown, []>(
    `SELECT * FROM ${changed} WHERE NOT EXISTS (SELECT * FROM main.${quoted(name)} WHERE ${join})`,
  );
  const selectAny = db.prepare<unknown, []>(`SELECT 1 FROM ${changed} LIMIT 1`);
  const clear = db.prepare<null, []>(`DELETE FROM ${changed}`);
  return {
    clear: () => void (selectAny.values().length > 0 && clear.run()),
    changes: (): TableChanges =>
      selectAny.values().length === 0
        ? { table, rows: [], removed: [] }
        : { table, rows: select.values() as StoredCell[][], removed: selectRemoved.values() as StoredCell[][] },
  };
}
