import { OperatorError } from '../core/errors.ts';
import { kernels } from '../math/kernels.ts';
import { memoryBytes, SCRATCH } from '../math/text-area.ts';

/**
 * Encodes columns of numbers in few bytes. Decoding restores the same bits, but -0 becomes 0. The layout of a column is:
 *
 *     kind, u8 | digits, u8 | width, u8 | has gaps, u8 | base, f64 | `width` planes of one byte per row
 *
 * If all numbers of a column have few decimals, the numbers are multiplied by `10 ** digits` to make them whole. `base` is the smallest of
 * the whole numbers. The column stores the difference of each number from `base` in `width` bytes. `width` is the smallest number of bytes
 * that is sufficient for the largest difference. If the column has gaps (NaN), it stores a gap as 0, and increases every other difference
 * by 1.
 *
 * If a number has too many decimals, the column stores each number as a float64 in 8 bytes. A plane contains one byte of each row, and the
 * first plane contains the lowest bytes of the rows. Planes compress better than rows.
 */
export class ColumnWriter {
  readonly #pieces: Uint8Array[] = [];

  /** Writes numbers and gaps (NaN). If the numbers have few decimals, writes them as whole numbers, and otherwise as float64. */
  numbers(values: Float64Array): void {
    const digits = decimalDigitsOf(values);
    if (digits === undefined) this.floats(values);
    else this.decimals(wholes(values, digits), digits);
  }

  /** Writes whole numbers and gaps (NaN). The whole number `w` stands for `w / 10 ** digits`. */
  decimals(values: Float64Array, digits = 0): void {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    let gaps = 0;
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (value < least) least = value;
      if (value > most) most = value;
      if (Number.isNaN(value)) gaps = 1;
    }
    if (least > most) least = most = 0;
    const width = bytesOf(most - least + gaps);
    if (width > WIDTH_MAX) throw new RangeError('the whole numbers of a column differ by too much');
    const bytes = this.#head(WHOLE, digits, width, gaps, least, values.length);
    writePlanes(values, least - gaps, width, bytes.subarray(HEAD_BYTES));
  }

  floats(values: Float64Array): void {
    const count = values.length;
    const bytes = this.#head(FLOAT, 0, 8, 0, 0, count);
    const valueBytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    for (let plane = 0; plane < 8; plane++) {
      for (let row = 0; row < count; row++) bytes[HEAD_BYTES + plane * count + row] = valueBytes[8 * row + plane]!;
    }
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const piece = new Uint8Array(4 + bytes.length);
    new DataView(piece.buffer).setUint32(0, bytes.length, true);
    piece.set(bytes, 4);
    this.#pieces.push(piece);
  }

  /** Returns all columns, compressed with zstd. */
  packed(): Uint8Array {
    return Bun.zstdCompressSync(Buffer.concat(this.#pieces), { level: ZSTD_LEVEL });
  }

  /** Returns the blob of all columns: the magic number (u32), the CRC-32 of the rest (u32), and the columns, compressed with zstd. */
  sealed(magic: number): Uint8Array {
    return sealed(magic, this.packed());
  }

  #head(kind: number, digits: number, width: number, gaps: number, base: number, count: number): Uint8Array {
    const bytes = new Uint8Array(HEAD_BYTES + width * count);
    bytes[0] = kind;
    bytes[1] = digits;
    bytes[2] = width;
    bytes[3] = gaps;
    // A view of `bytes` itself would make the runtime copy the bytes.
    baseOf[0] = base;
    bytes.set(baseBytes, 4);
    this.#pieces.push(bytes);
    return bytes;
  }
}

/** Decodes the columns of a `ColumnWriter`. Callers must read the columns in the order in which they were written. */
export class ColumnReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  /** `bytes` are the decompressed bytes of `ColumnWriter.packed`. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Decompresses a blob of `ColumnWriter.sealed`. Throws `OperatorError` with `name` if the blob is damaged. */
  static unsealed(blob: Uint8Array, magic: number, name: string): ColumnReader {
    return new ColumnReader(Bun.zstdDecompressSync(unsealed(blob, magic, name) as Uint8Array<ArrayBuffer>));
  }

  /** Reads a column of `count` numbers. */
  numbers(count: number): Float64Array {
    const head = this.#offset;
    const bytes = this.#bytes;
    const [digits, width, gaps] = [bytes[head + 1]!, bytes[head + 2]!, bytes[head + 3]!];
    const base = this.#view.getFloat64(head + 4, true);
    this.#offset = head + HEAD_BYTES + width * count;
    const divisor = 10 ** digits;
    const gap = gaps > 0 ? Number.NaN : (0 + base) / divisor;
    const values = new Float64Array(count);
    for (let row = 0; row < count; row += READ_ROWS) {
      const rows = Math.min(READ_ROWS, count - row);
      for (let plane = 0, from = head + HEAD_BYTES + row; plane < width; plane++, from += count) {
        memoryBytes.set(bytes.subarray(from, from + rows), SCRATCH + plane * READ_ROWS);
      }
      kernels.readWholes(rows, SCRATCH, READ_ROWS, width, base - gaps, divisor, gap, READ.byteOffset);
      values.set(READ.subarray(0, rows), row);
    }
    return values;
  }

  text(): string {
    const from = this.#offset + 4;
    this.#offset = from + this.#view.getUint32(this.#offset, true);
    return new TextDecoder().decode(this.#bytes.subarray(from, this.#offset));
  }
}

/** Returns a blob: a magic number, a checksum of the bytes, and the bytes. */
export function sealed(magic: number, content: Uint8Array): Uint8Array {
  const blob = new Uint8Array(SEAL_BYTES + content.length);
  blob.set(content, SEAL_BYTES);
  new Uint32Array(blob.buffer, 0, 2).set([magic, Bun.hash.crc32(content)]);
  return blob;
}

/** Returns the content of a blob of `sealed`. Throws `OperatorError` with `name` if the blob is damaged. */
export function unsealed(blob: Uint8Array, magic: number, name: string): Uint8Array {
  if (!isSealed(blob, magic)) {
    throw new OperatorError(
      `${name} is damaged`,
      'Check the disk, and restore the database from a backup. Other days and tickers are not affected.',
    );
  }
  return blob.subarray(SEAL_BYTES);
}

/** Returns whether the magic number and the checksum of a blob are right. */
export function isSealed(blob: Uint8Array, magic: number): boolean {
  if (blob.byteLength < SEAL_BYTES) return false;
  const seal = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  return seal.getUint32(0, true) === magic && seal.getUint32(4, true) === Bun.hash.crc32(blob.subarray(SEAL_BYTES));
}

/** Writes the differences of whole numbers from `from` as `width` planes of one byte per row. Writes a gap (NaN) as 0. */
function writePlanes(values: Float64Array, from: number, width: number, into: Uint8Array): void {
  const count = values.length;
  const low = new Uint32Array(count);
  for (let row = 0; row < count; row++) {
    const value = values[row]!;
    low[row] = Number.isNaN(value) ? 0 : value - from;
  }
  for (let plane = 0, offset = 0; plane < Math.min(width, 4); plane++, offset += count) {
    const shift = 8 * plane;
    for (let row = 0; row < count; row++) into[offset + row] = low[row]! >>> shift;
  }
  for (let plane = 4, offset = 4 * count; plane < width; plane++, offset += count) {
    const divisor = 256 ** plane;
    for (let row = 0; row < count; row++) {
      const value = values[row]!;
      into[offset + row] = Number.isNaN(value) ? 0 : Math.floor((value - from) / divisor);
    }
  }
}

/** Returns the number of decimals that all numbers of the columns need, or `undefined` if more than DIGITS_MAX. Ignores gaps. */
export function decimalDigitsOf(...columns: readonly Float64Array[]): number | undefined {
  for (let digits = 0; digits <= DIGITS_MAX; digits++) {
    if (columns.every((values) => areWhole(values, 10 ** digits))) return digits;
  }
  return undefined;
}

/** Returns the whole numbers `values * 10 ** digits`. The values must have at most `digits` decimals. */
export function wholes(values: Float64Array, digits: number): Float64Array {
  const times = 10 ** digits;
  const whole = new Float64Array(values.length);
  for (let row = 0; row < whole.length; row++) whole[row] = Math.round(values[row]! * times);
  return whole;
}

/** Returns whether `value * times` is a whole number for all values that are not gaps. */
function areWhole(values: Float64Array, times: number): boolean {
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    const whole = Math.round(value * times);
    if (!((whole / times === value && Math.abs(whole) <= WHOLE_MAX) || Number.isNaN(value))) return false;
  }
  return true;
}

const baseOf = new Float64Array(1);
const baseBytes = new Uint8Array(baseOf.buffer);

/** The number of rows that a kernel call reads, and the place of the numbers, after eight planes. */
const READ_ROWS = 16_384;
const READ = new Float64Array(memoryBytes.buffer, SCRATCH + 8 * READ_ROWS, READ_ROWS);

const WHOLE = 1;
const FLOAT = 2;
const HEAD_BYTES = 12;
/** Length of the magic number and the checksum of a blob. */
export const SEAL_BYTES = 8;
/** Maximum whole number. Up to this maximum, differences of whole numbers are exact, and so are differences of such differences. */
const WHOLE_MAX = 2 ** 50;
/** Maximum number of bytes of a whole number. */
const WIDTH_MAX = 7;
/** Maximum number of decimals. Further decimals are noise. Whole numbers with more decimals would need as many bytes as float64. */
const DIGITS_MAX = 13;
const ZSTD_LEVEL = 3;

/** Returns the number of bytes that are sufficient for the whole numbers up to `most`. */
function bytesOf(most: number): number {
  let bytes = 0;
  for (let left = most; left > 0; left = Math.floor(left / 256)) bytes++;
  return bytes;
}
