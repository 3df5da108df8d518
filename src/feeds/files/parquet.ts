import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { ClientError } from '../../core/errors.ts';
import { runInTurns } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { unreadable } from '../rejections.ts';
import { assertColumnCount, FILE_ROWS_MAX } from './cells.ts';
import { isChainHeader } from './chain-rows.ts';
import { isClosesHeader, isDividendsHeader } from './daily-rows.ts';
import type { Content } from './opened-file.ts';
import { CODECS, cellReader, PARSERS } from './parquet-cells.ts';
import { isPrintsHeader, PRINT_COLUMNS, printColumnsOf } from './print-row.ts';
import { readPrints } from './prints-csv.ts';
import { readMarketFile } from './read-market-file.ts';

/** Maximum number of rows in a row group. The whole row group is in memory. Common writers make groups of up to 1,048,576 rows. */
const GROUP_ROWS_MAX = 1_200_000;
/** Maximum number of rows in a slice. */
const SLICE_ROWS = 50_000;
/** Number of rows in a piece of text. */
const PIECE_ROWS = 500;
/** Maximum size of the metadata, bytes: enough for some thousand row groups. Parsed metadata is some twenty times larger in memory. */
const METADATA_BYTES_MAX = 8 * 1024 * 1024;
/** A file has at most as many rows as bytes, plus ROWS_FREE. A row of a tape takes 5 to 20 bytes. More rows were made to fill a disk. */
const ROWS_FREE = 10_000;

/** Returns whether a file that begins with `head` is a Parquet file. */
export function isParquet(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('latin1') === MAGIC;
}

/**
 * Reads a Parquet file with the columns of a chain table, of closes, of dividends or of a tape, as the text of its cells. Yields nothing for a
 * file with other columns. Throws a `ClientError` if nothing can be read. Throws errors of the file system.
 */
export async function* readParquet(
  content: Content,
  nowMs: number,
  onProgress: (bytes: number) => void,
): AsyncGenerator<Delivery> {
  const { size, ...facts } = content.facts;
  let bytesRead = 0;
  const file: AsyncBuffer = {
    byteLength: size,
    slice(start, end = size) {
      const bytes = bytesOf(start, end);
      // hyparquet requests several ranges at once, but handles only the first failure.
      bytes.catch(() => {});
      return bytes;
    },
  };
  async function bytesOf(start: number, end: number): Promise<ArrayBuffer> {
    // The range comes from the file's own metadata, and the metadata may be wrong.
    if (!(start >= 0 && end >= start && end <= size)) throw unreadable('the Parquet file is truncated');
    const bytes = new Uint8Array(await content.slice(start, end));
    if (bytes.length < end - start) throw unreadable('the Parquet file is truncated');
    bytesRead += bytes.length;
    onProgress(Math.min(bytesRead, size));
    return bytes.buffer;
  }
  const { header, rows, text } = await rejectDamaged(() => tableOf(file));
  if (isPrintsHeader(header)) {
    // The call throws a `ClientError` if the header lacks a required column of a tape, or if the header repeats a column.
    printColumnsOf(header);
    return yield* readPrints(text(PRINT_COLUMNS.filter((name) => header.includes(name))), nowMs);
  }
  if (![isChainHeader, isClosesHeader, isDividendsHeader].some((isHeader) => isHeader(header))) return;
  assertColumnCount(header);
  if (rows > FILE_ROWS_MAX) throw unreadable(`the table has ${rows} rows, more than the maximum of ${FILE_ROWS_MAX}`);
  const bytes = Buffer.concat(await Array.fromAsync(text(header)));
  yield* await runInTurns('reading a table', readMarketFile(bytes, facts));
}

const MAGIC = 'PAR1';

/**
 * Reads the metadata of a file. Throws a `ClientError` if the file is truncated or exceeds a bound. `header` has the names of the columns that
 * are not nested, in lower case. `text` yields the table as text, with tabs between the cells of the named columns.
 */
async function tableOf(file: AsyncBuffer) {
  const tail = new DataView(await file.slice(Math.max(0, file.byteLength - 8)));
  if (tail.byteLength < 8 || tail.getUint32(0, true) > METADATA_BYTES_MAX)
    throw unreadable('the Parquet file is truncated');
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  const columns = parquetSchema(metadata).children.filter(({ children }) => children.length === 0);
  const readers = new Map(
    columns.map(({ element }) => [element.name.trim().toLowerCase(), { element, read: cellReader(element) }]),
  );
  const groups = metadata.row_groups.map(({ num_rows }) => Number(num_rows));
  const tooLarge = groups.find((count) => !(count >= 0 && count <= GROUP_ROWS_MAX));
  if (tooLarge !== undefined) {
    throw unreadable(`a row group has ${tooLarge} rows. Write the file with groups of at most ${GROUP_ROWS_MAX} rows`);
  }
  const rows = groups.reduce((sum, count) => sum + count, 0);
  const { byteLength: bytes } = file;
  if (rows > ROWS_FREE + bytes)
    throw unreadable(`the file has ${rows} rows in ${bytes} bytes, but a row of market data takes more than one byte`);
  return {
    header: columns.map(({ element }) => element.name.trim().toLowerCase()),
    rows,
    async *text(names: readonly string[]): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${names.map(cellOf).join('\t')}\n`);
      const wanted = names.map((name) => readers.get(name));
      const rowsIn = (rowStart: number, rowEnd: number) =>
        parquetReadObjects({
          ...{ file, metadata, rowStart, rowEnd, compressors: CODECS, parsers: PARSERS, geoparquet: false },
          columns: wanted.flatMap((column) => column?.element.name ?? []),
        });
      let groupStart = 0;
      for (const count of groups) {
        for (let row = 0; row < count; row += SLICE_ROWS) {
          const start = groupStart + row;
          const rows = await rejectDamaged(() => rowsIn(start, start + Math.min(SLICE_ROWS, count - row)));
          for (let from = 0; from < rows.length; from += PIECE_ROWS) {
            const lines = rows.slice(from, from + PIECE_ROWS).map((row) => {
              const cells = wanted.map((column) => (column ? cellOf(column.read(row[column.element.name])) : ''));
              return `${cells.join('\t')}\n`;
            });
            yield Buffer.from(lines.join(''));
          }
        }
        groupStart += count;
      }
    },
  };
}

/** Returns a cell of a text with tabs between cells. Tabs and line breaks become spaces. */
function cellOf(text: string): string {
  if (!/[\t\r\n\0"]/.test(text)) return text;
  const plain = text.replaceAll(/[\t\r\n]/g, ' ').replaceAll('\0', '\ufffd');
  return `"${plain.replaceAll('"', '""')}"`;
}

/** Returns the result of `work`. Throws errors of the file system unchanged. Any other error becomes a `ClientError` for a damaged file. */
async function rejectDamaged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ClientError || (error instanceof Error && 'syscall' in error)) throw error;
    throw unreadable(`the Parquet file is damaged: ${(error as Error).message}`);
  }
}
