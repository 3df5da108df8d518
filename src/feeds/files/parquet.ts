import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaElement,
  snappyUncompress,
} from 'hyparquet';
import { ClientError } from '../../core/errors.ts';
import { runInTurns } from '../../core/steps.ts';
import { DAY_MS } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { unreadable } from '../rejections.ts';
import { claimsHistory, readChainHistory } from '../vendors/history-tables.ts';
import { claimsVendorPrints, readVendorPrints } from '../vendors/vendor-prints.ts';
import { assertColumnCount, COLUMNS_MAX, FILE_ROWS_MAX } from './cells.ts';
import { isClosesHeader, isDividendsHeader } from './daily-rows.ts';
import { FileHead } from './file-head.ts';
import type { Content } from './opened-file.ts';
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
    return yield* readPrints(text(PRINT_COLUMNS.filter((name) => header.includes(name))), nowMs, facts.stated, header);
  }
  const names = header.slice(0, COLUMNS_MAX);
  const head = new FileHead(Buffer.from(`${names.join('\t')}\n`));
  assertColumnCount(header);
  if (claimsVendorPrints(head, facts.stated)) return yield* readVendorPrints(() => text(names), facts, nowMs);
  if (claimsHistory(head, facts)) return yield* readChainHistory(() => text(names), facts);
  if (![isClosesHeader, isDividendsHeader].some((isHeader) => isHeader(header))) return;
  if (rows > FILE_ROWS_MAX) throw unreadable(`the table has ${rows} rows, more than the maximum of ${FILE_ROWS_MAX}`);
  const bytes = Buffer.concat(await Array.fromAsync(text(header)));
  yield* await runInTurns('reading a table', readMarketFile(bytes, { ...facts, readAtMs: nowMs }));
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

/** Maximum size of an unpacked page. The common writers make pages of 1 MB. */
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** The common compression codecs, except LZ4. The unpacked size of a page is at most the size that the page declares. */
const CODECS: Compressors = {
  SNAPPY(packed, length) {
    bounded(length);
    const page = new Uint8Array(length);
    snappyUncompress(packed, page);
    return page;
  },
  GZIP: (packed, length) => gunzipSync(packed, { maxOutputLength: bounded(length) }),
  ZSTD: (packed, length) => zstdDecompressSync(packed, { maxOutputLength: bounded(length) }),
  BROTLI: (packed, length) => brotliDecompressSync(packed, { maxOutputLength: bounded(length) }),
};

function bounded(length: number): number {
  if (!(length >= 0 && length <= PAGE_BYTES_MAX))
    throw unreadable(`a Parquet page has ${length} bytes, more than the limit of ${PAGE_BYTES_MAX} bytes`);
  // An empty page has length 0, and the unpackers do not accept 0 as a limit.
  return Math.max(1, length);
}

/** Formats dates and times as text without a zone. The text has microseconds, but a `Date` has only milliseconds. */
const PARSERS: Partial<ParquetParsers> = {
  dateFromDays: (days) => instant(BigInt(days) * DAY_MICROS).slice(0, 10),
  timestampFromMilliseconds: (ms) => instant(ms * 1_000n),
  timestampFromMicroseconds: instant,
  timestampFromNanoseconds: (ns) => instant(ns / 1_000n),
};

const DAY_MICROS = BigInt(DAY_MS) * 1_000n;

/** Formats an instant as `2026-08-17T13:30:00.007140`. Returns an invalid time for years outside 1970 to 9999. */
function instant(micros: bigint): string {
  const ms = Number(micros / 1_000n);
  if (Math.abs(ms) > MS_MAX || micros < 0n) return 'out of range';
  return `${new Date(ms).toISOString().slice(0, 23)}${String(micros % 1_000n).padStart(3, '0')}`;
}

/** The end of the year 9999, ms since the epoch. */
const MS_MAX = 253_402_300_799_999;

/** Returns a function that formats the values of a column as text. Null and NaN, which data frames write for missing values, become ''. */
function cellReader(column: SchemaElement): (value: unknown) => string {
  const { name, type, converted_type, logical_type, scale } = column;
  const isInstant =
    logical_type?.type === 'TIMESTAMP' ? logical_type.isAdjustedToUTC : TIMESTAMPS.has(converted_type ?? type ?? '');
  const decimals =
    logical_type?.type === 'DECIMAL' ? logical_type.scale : converted_type === 'DECIMAL' ? (scale ?? 0) : undefined;
  const isDay = DAYS.has(name.trim().toLowerCase());
  return (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '';
    if (isDay && typeof value === 'string') return value.replace(MIDNIGHT, '');
    if (typeof value === 'string') return isInstant ? `${value}Z` : value;
    if (typeof value !== 'number') return String(value);
    // hyparquet multiplied a whole number by a power of ten. A power such as 0.01 is inexact as a double, so the code rounds the product.
    if (decimals !== undefined) return value.toFixed(decimals);
    return type === 'FLOAT' ? shortest(value) : String(value);
  };
}

/** Columns of dates. Data frames have no date type, so they write a date as the time at midnight. */
const DAYS: ReadonlySet<string> = new Set(['expiry', 'date']);
const MIDNIGHT = /T00:00:00\.000000$/;

const TIMESTAMPS: ReadonlySet<string> = new Set(['TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS', 'INT96']);

/** Formats a single-precision number as the shortest decimal that rounds to it. For example, the result is 5000.3, not 5000.2998046875. */
function shortest(single: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const decimal = Number(single.toPrecision(digits));
    if (Math.fround(decimal) === single) return String(decimal);
  }
  return String(single);
}
