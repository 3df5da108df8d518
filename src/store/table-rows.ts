import type { Database, Statement } from 'bun:sqlite';
import { type MirroredTable, quoted, type StoredCell } from './mirrored-tables.ts';

/** The last given ids of the tables that never give an id twice. */
export type RowSequences = readonly (readonly [table: string, last: number])[];

/** All rows of a database, whichever engine has it. */
export interface TableRows {
  /** Returns the next rows of a table after a key, in the order of the keys, at most `limit`. */
  page(table: MirroredTable, after: readonly StoredCell[] | undefined, limit: number): Promise<StoredCell[][]>;
  sequences(): Promise<RowSequences>;
}

/** Returns the rows of a database of SQLite. */
export function sqliteRows(db: Database): TableRows {
  const pages = new Map<string, Statement<unknown, StoredCell[]>>();
  const pageOf = ({ name, columns, key }: MirroredTable, isFirst: boolean) =>
    pages.getOrInsertComputed(`${name} ${isFirst}`, () => {
      const keys = key.map(quoted).join(', ');
      const where = isFirst ? '' : `WHERE (${keys}) > (${key.map(() => '?').join(', ')})`;
      const names = columns.map((column) => quoted(column.name)).join(', ');
      return db.prepare(`SELECT ${names} FROM ${quoted(name)} ${where} ORDER BY ${keys} LIMIT ?`);
    });
  const selectSequences = db.prepare<unknown, []>('SELECT name, seq FROM sqlite_sequence');
  return {
    async page(table, after, limit) {
      const statement = pageOf(table, after === undefined);
      return statement.values(...[...(after ?? []), limit]) as StoredCell[][];
    },
    sequences: async () => selectSequences.values() as [string, number][],
  };
}
