import { Database } from 'bun:sqlite';
import { migrate } from './migrations.ts';

/** A stored value. The tables are strict, so each column has one type of value, or null. */
export type StoredCell = string | number | Uint8Array | null;

/** A table whose rows travel between servers. */
export interface MirroredTable {
  readonly name: string;
  /** The columns, without those that SQLite computes. A row id that no column stands for comes first, as `rowid`. */
  readonly columns: readonly { readonly name: string; readonly type: 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB' }[];
  /** The columns that identify a row. */
  readonly key: readonly string[];
}

/** The rows of a table that a transaction has changed. Each row has a cell for each column, each removed key one for each key column. */
export interface TableChanges {
  readonly table: MirroredTable;
  readonly rows: readonly (readonly StoredCell[])[];
  readonly removed: readonly (readonly StoredCell[])[];
}

/** The tables and triggers of the newest schema. A table comes after those to which it refers. */
export interface MirroredSchema {
  readonly tables: readonly MirroredTable[];
  readonly triggers: readonly { readonly name: string; readonly sql: string }[];
}

let known: MirroredSchema | undefined;

/** Returns the tables and triggers of the newest schema. */
export function mirroredSchema(): MirroredSchema {
  if (known) return known;
  const db = new Database(':memory:');
  migrate(db);
  const selectTables = db.query<{ name: string; wr: number }, []>(
    `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  const selectTriggers = db.query<{ name: string; sql: string }, []>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`,
  );
  const selectReferences = db.query<{ to: string }, [string]>('SELECT "table" AS "to" FROM pragma_foreign_key_list(?)');
  const found = selectTables.all().map(({ name, wr }) => tableOf(db, name, wr === 1));
  const referring = (name: string) => selectReferences.all(name).length;
  known = {
    tables: found.sort((a, b) => referring(a.name) - referring(b.name) || (a.name < b.name ? -1 : 1)),
    triggers: selectTriggers.all(),
  };
  db.close();
  return known;
}

function tableOf(db: Database, name: string, isWithoutRowid: boolean): MirroredTable {
  type ColumnRow = Readonly<{ name: string; type: MirroredTable['columns'][number]['type']; pk: number }>;
  const all = db
    .query<ColumnRow, [string]>('SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden = 0')
    .all(name);
  const columns = all.map(({ name: column, type }) => ({ name: column, type }));
  const primary = all.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const isNumbered = !isWithoutRowid && primary.length === 1 && primary[0]!.type === 'INTEGER';
  if (isWithoutRowid || isNumbered) return { name, columns, key: primary.map((column) => column.name) };
  return { name, columns: [{ name: 'rowid', type: 'INTEGER' }, ...columns], key: ['rowid'] };
}

/** Returns a name as SQL of SQLite and of Postgres. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/** Returns the cells of a row that identify it. */
export function rowKeyOf({ columns, key }: MirroredTable, row: readonly StoredCell[]): StoredCell[] {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)]!);
}
