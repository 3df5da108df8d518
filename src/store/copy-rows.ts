import { type MirroredTable, mirroredSchema, rowKeyOf, type StoredCell } from './mirrored-tables.ts';
import type { RowSequences, TableRows } from './table-rows.ts';

/** How far a copy is. It is stored in the target, in the transaction of the rows. */
export interface CopyMark {
  /** The last copied row, or null for the key if the table has none yet. Null if everything is copied. */
  readonly copied: { readonly table: string; readonly key: readonly StoredCell[] | null } | null;
  readonly rows: number;
  readonly bytes: number;
}

/** What a copy is made of. */
export interface CopyOrigin {
  /** The name for messages. */
  readonly name: string;
  readonly identity: string;
  /** Differs after each change of the data. */
  readonly version: string;
}

export interface CopyTarget extends TableRows {
  readonly mark: CopyMark;
  /** What an earlier run has left: a part, or rows of an earlier state of the origin, which were removed. Undefined if nothing. */
  readonly left: 'part' | 'outdated' | undefined;
  /** Adds rows and moves the mark, in one transaction. */
  put(table: MirroredTable, rows: readonly StoredCell[][], next: CopyMark): Promise<void>;
  /** Sets the sequences after the last row, and moves the mark to the end. */
  end(sequences: RowSequences, next: CopyMark): Promise<void>;
  /** Removes all rows, and moves the mark to the beginning. */
  beginAgain(): Promise<void>;
}

/** Returns the mark of a copy that has not begun. */
export function firstMark(): CopyMark {
  return { copied: { table: mirroredSchema().tables[0]!.name, key: null }, rows: 0, bytes: 0 };
}

/** The size of a page of rows, bytes, and the most rows that it has. */
const PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_ROWS = 4_096;
/** The number of rows of the first page, when their size is not known. */
const FIRST_ROWS = 16;

/** Yields the rows of a table after a key in parts of some megabytes. Reads one part ahead. */
export async function* pagesOf(
  from: TableRows,
  table: MirroredTable,
  after?: readonly StoredCell[],
): AsyncGenerator<{ readonly rows: StoredCell[][]; readonly bytes: number }> {
  let limit = FIRST_ROWS;
  const read = (key: readonly StoredCell[] | undefined) => {
    const page = from.page(table, key, limit);
    // A caller that has failed waits no longer.
    page.catch(() => {});
    return page;
  };
  for (let next = read(after); ; ) {
    const rows = await next;
    if (rows.length === 0) return;
    const bytes = rows.reduce((sum, row) => sum + bytesOfRow(row), 0);
    const fitting = Math.max(1, Math.min(PAGE_ROWS, limit * 8, (PAGE_BYTES * rows.length) / bytes));
    // Powers of two, so that there are few different statements.
    limit = 2 ** Math.floor(Math.log2(fitting));
    next = read(rowKeyOf(table, rows.at(-1)!));
    yield { rows, bytes };
  }
}

function bytesOfRow(row: readonly StoredCell[]): number {
  return row.reduce<number>((sum, cell) => sum + (typeof cell === 'object' ? (cell?.length ?? 1) : lengthOf(cell)), 0);
}

function lengthOf(cell: string | number): number {
  return typeof cell === 'string' ? cell.length : 8;
}

/** Copies all rows after the mark of the target, table by table in the order of the keys. */
export async function copyRows(from: TableRows, to: CopyTarget, onProgress: (mark: CopyMark) => void): Promise<void> {
  const { tables } = mirroredSchema();
  for (let { mark } = to; mark.copied !== null; ) {
    const { copied } = mark;
    const i = tables.findIndex(({ name }) => name === copied.table);
    const table = tables[i]!;
    for await (const { rows, bytes } of pagesOf(from, table, copied.key ?? undefined)) {
      const key = rowKeyOf(table, rows.at(-1)!);
      const next = { copied: { table: table.name, key }, rows: mark.rows + rows.length, bytes: mark.bytes + bytes };
      await to.put(table, rows, next);
      mark = next;
      onProgress(mark);
    }
    const following = tables[i + 1];
    const next = { ...mark, copied: following ? { table: following.name, key: null } : null };
    await (following ? to.put(following, [], next) : to.end(await from.sequences(), next));
    mark = next;
  }
}
