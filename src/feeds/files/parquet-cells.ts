import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Compressors, type ParquetParsers, type SchemaElement, snappyUncompress } from 'hyparquet';
import { DAY_MS } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';

/** Maximum size of an unpacked page. The common writers make pages of 1 MB. */
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** The common compression codecs, except LZ4. The unpacked size of a page is at most the size that the page declares. */
export const CODECS: Compressors = {
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
export const PARSERS: Partial<ParquetParsers> = {
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
export function cellReader(column: SchemaElement): (value: unknown) => string {
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
