import { CryptoHasher } from 'bun';
import { pagesOf } from './copy-rows.ts';
import { type MirroredTable, mirroredSchema, type StoredCell } from './mirrored-tables.ts';
import type { TableRows } from './table-rows.ts';

/** The rows of a table on two sides. */
export interface ComparedTable {
  readonly table: string;
  readonly rows: readonly [from: number, to: number];
  /** SHA-256 over all rows in the order of their keys, hexadecimal. */
  readonly digests: readonly [from: string, to: string];
  readonly isEqual: boolean;
}

/** Reads all rows on both sides, and compares the number and a digest of the rows of each table. */
export async function compareRows(
  from: TableRows,
  to: TableRows,
  onProgress: (bytes: number, rows: number) => void,
): Promise<ComparedTable[]> {
  const total = { bytes: 0, rows: 0 };
  const compared: ComparedTable[] = [];
  const add = (table: string, sides: readonly [Digested, Digested]) => {
    const [a, b] = sides;
    const isEqual = a.rows === b.rows && a.digest === b.digest;
    compared.push({ table, rows: [a.rows, b.rows], digests: [a.digest, b.digest], isEqual });
  };
  for (const table of mirroredSchema().tables) {
    const onPage = (bytes: number, rows: number) => {
      total.bytes += bytes;
      total.rows += rows;
      onProgress(total.bytes, total.rows);
    };
    add(table.name, await Promise.all([digestOfTable(from, table, onPage), digestOfTable(to, table, () => {})]));
  }
  add('sqlite_sequence', await Promise.all([digestOfSequences(from), digestOfSequences(to)]));
  return compared;
}

interface Digested {
  readonly rows: number;
  readonly digest: string;
}

async function digestOfTable(
  from: TableRows,
  table: MirroredTable,
  onPage: (bytes: number, rows: number) => void,
): Promise<Digested> {
  const digest = rowDigest();
  for await (const { rows, bytes } of pagesOf(from, table)) {
    for (const row of rows) digest.add(row);
    onPage(bytes, rows.length);
  }
  return digest.end();
}

async function digestOfSequences(from: TableRows): Promise<Digested> {
  const digest = rowDigest();
  const rows = [...(await from.sequences())];
  for (const row of rows.sort(([a], [b]) => (a < b ? -1 : 1))) digest.add(row);
  return digest.end();
}

/** The most bytes that a text takes in UTF-8 per unit of its length. */
const UTF8_MAX = 3;
const BUFFER_BYTES = 256 * 1024;
const TAG = { null: 0, number: 1, text: 2, bytes: 3 } as const;

/** Digests rows. Each cell is its type, and the bits of its double, or its length and its bytes. */
function rowDigest() {
  const hash = new CryptoHasher('sha256');
  const encoder = new TextEncoder();
  let buffer = new Uint8Array(BUFFER_BYTES);
  let view = new DataView(buffer.buffer);
  let used = 0;
  let rows = 0;
  /** Makes room for a cell with so many bytes after its head. */
  const reserve = (bytes: number): void => {
    if (used + HEAD_BYTES + bytes <= buffer.length) return;
    hash.update(buffer.subarray(0, used));
    used = 0;
    if (HEAD_BYTES + bytes <= buffer.length) return;
    buffer = new Uint8Array(HEAD_BYTES + bytes);
    view = new DataView(buffer.buffer);
  };
  const head = (tag: number, value: number): void => {
    buffer[used] = tag;
    view.setFloat64(used + 1, value);
    used += HEAD_BYTES;
  };
  const addCell = (cell: StoredCell): void => {
    if (typeof cell === 'number') {
      reserve(0);
      head(TAG.number, cell);
    } else if (typeof cell === 'string') {
      reserve(UTF8_MAX * cell.length);
      const { written } = encoder.encodeInto(cell, buffer.subarray(used + HEAD_BYTES));
      head(TAG.text, written);
      used += written;
    } else {
      reserve(0);
      head(cell ? TAG.bytes : TAG.null, cell?.length ?? 0);
      if (!cell || cell.length === 0) return;
      hash.update(buffer.subarray(0, used)).update(cell);
      used = 0;
    }
  };
  return {
    add(row: readonly StoredCell[]) {
      rows += 1;
      for (const cell of row) addCell(cell);
    },
    end: (): Digested => ({ rows, digest: hash.update(buffer.subarray(0, used)).digest('hex') }),
  };
}

/** The type of a cell, and a double. */
const HEAD_BYTES = 9;
