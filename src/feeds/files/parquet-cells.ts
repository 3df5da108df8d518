import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type Compressors, type ParquetParsers, type SchemaElement, snappyUncompress } from 'hyparquet';
import { unreadable } from '../refused.ts';

/** Writers make pages of a megabyte. */
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Every way of packing in use but LZ4, by what the runtime brings; each bounded by the size that the page says it has. */
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
  if (!(length >= 0 && length <= PAGE_BYTES_MAX)) throw unreadable(`a page of ${length} bytes`);
  // What packs nothing has a length of 0, which the unpackers do not take for a bound.
  return Math.max(1, length);
}

/** Dates and times as text, without a zone, to the microsecond: no `Date` holds as much. */
export const PARSERS: Partial<ParquetParsers> = {
  dateFromDays: (days) => instant(BigInt(days) * 86_400_000_000n).slice(0, 10),
  timestampFromMilliseconds: (ms) => instant(ms * 1_000n),
  timestampFromMicroseconds: instant,
  timestampFromNanoseconds: (ns) => instant(ns / 1_000n),
};

/** `2026-08-17T13:30:00.007140`, or what no format takes for a time. */
function instant(micros: bigint): string {
  const ms = Number(micros / 1_000n);
  if (Math.abs(ms) > MS_MAX || micros < 0n) return 'out of range';
  return `${new Date(ms).toISOString().slice(0, 23)}${String(micros % 1_000n).padStart(3, '0')}`;
}

/** The year 9999. */
const MS_MAX = 253_402_300_799_999;

/** The text that a table would have in place of a value. Of NaN, which data frames write for "none", it has none. */
export function cellReader({
  name,
  type,
  converted_type,
  logical_type,
  scale,
}: SchemaElement): (value: unknown) => string {
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
    // The reader has multiplied by a power of ten that no double is.
    if (decimals !== undefined) return value.toFixed(decimals);
    return type === 'FLOAT' ? shortest(value) : String(value);
  };
}

/** Data frames have no dates, but their midnights. */
const DAYS: ReadonlySet<string> = new Set(['expiry', 'date']);
const MIDNIGHT = /T00:00:00\.000000$/;

const TIMESTAMPS: ReadonlySet<string> = new Set(['TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS', 'INT96']);

/** The shortest decimal that single precision rounds to this: a strike of 5000.3 is meant, not 5000.2998046875. */
function shortest(single: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const decimal = Number(single.toPrecision(digits));
    if (Math.fround(decimal) === single) return String(decimal);
  }
  return String(single);
}
