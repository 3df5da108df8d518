import { OperatorError } from '../core/errors.ts';

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
    const count = values.length;
    const bytes = this.#head(WHOLE, digits, width, gaps, least, count);
    let offset = HEAD_BYTES;
    for (let plane = 0; plane < width; plane++, offset += count) {
      const divisor = 256 ** plane;
      for (let row = 0; row < count; row++) {
        const value = values[row]!;
        const code = !Number.isNaN(value) ? value - least + gaps : 0;
        bytes[offset + row] = plane < 4 && width <= 4 ? code >>> (8 * plane) : Math.floor(code / divisor) % 256;
      }
    }
  }

  floats(values: Float64Array): void {
    const count = values.length;
    const bytes = this.#head(FLOAT, 0, 8, 0, 0, count);
    const valueBytes = new Uint8Array(Float64Array.from(values).buffer);
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

  /** Returns the blob of all columns: the magic number (u32), the CRC-32 of the rest (u32), and the columns, compressed with zstd. */
  sealed(magic: number): Uint8Array {
    const packed = Bun.zstdCompressSync(Buffer.concat(this.#pieces), { level: ZSTD_LEVEL });
    return sealed(magic, packed);
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

  /**
   * Decompresses a blob of `ColumnWriter.sealed`. Throws `OperatorError` if the magic number or the checksum of the blob is wrong. `name`
   * identifies the blob in the error.
   */
  constructor(blob: Uint8Array, magic: number, name: string) {
    this.#bytes = Bun.zstdDecompressSync(unsealed(blob, magic, name));
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
  }

  /** Reads a column of `count` numbers. */
  numbers(count: number): Float64Array {
    const { values, digits } = this.decimals(count);
    if (digits === 0) return values;
    const divisor = 10 ** digits;
    for (let row = 0; row < count; row++) values[row]! /= divisor;
    return values;
  }

  /**
   * Reads a column of `count` numbers as the whole numbers that the column stores. The whole number `w` stands for `w / 10 ** digits`. For
   * a float64 column, `values` has the numbers themselves, and `digits` is 0.
   */
  decimals(count: number): { readonly values: Float64Array; readonly digits: number } {
    const head = this.#offset;
    const [kind, digits, width, gaps] = this.#bytes.subarray(head, head + 4) as unknown as [
      number,
      number,
      number,
      number,
    ];
    const base = this.#view.getFloat64(head + 4, true);
    let offset = head + HEAD_BYTES;
    this.#offset = offset + width * count;
    const values = new Float64Array(count);
    const bytes = this.#bytes;
    if (kind === FLOAT) {
      const valueBytes = new Uint8Array(values.buffer);
      for (let plane = 0; plane < 8; plane++, offset += count) {
        for (let row = 0; row < count; row++) valueBytes[8 * row + plane] = bytes[offset + row]!;
      }
      return { values, digits: 0 };
    }
    const from = base - gaps;
    if (width === 0) return { values: values.fill(base), digits };
    const [second, third] = [offset + count, offset + 2 * count];
    // Each frequent width has its own loop, because these loops take most of the time of reading a tape.
    if (width === 1) for (let row = 0; row < count; row++) values[row] = bytes[offset + row]!;
    else if (width === 2)
      for (let row = 0; row < count; row++) values[row] = bytes[offset + row]! | (bytes[second + row]! << 8);
    else {
      for (let row = 0; row < count; row++) {
        values[row] = bytes[offset + row]! | (bytes[second + row]! << 8) | (bytes[third + row]! << 16);
      }
      for (let plane = 3; plane < width; plane++) {
        const [times, start] = [256 ** plane, offset + plane * count];
        for (let row = 0; row < count; row++) values[row]! += times * bytes[start + row]!;
      }
    }
    if (gaps === 0) for (let row = 0; row < count; row++) values[row]! += from;
    else for (let row = 0; row < count; row++) values[row] = values[row] === 0 ? Number.NaN : values[row]! + from;
    return { values, digits };
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

/**
 * Returns the content of a blob that `sealed` has made. Throws `OperatorError` if the magic number or the checksum is wrong. `name`
 * identifies the blob in the error.
 */
export function unsealed(blob: Uint8Array, magic: number, name: string): Uint8Array {
  const content = blob.subarray(SEAL_BYTES);
  const seal = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  if (
    blob.byteLength < SEAL_BYTES ||
    seal.getUint32(0, true) !== magic ||
    seal.getUint32(4, true) !== Bun.hash.crc32(content)
  ) {
    throw new OperatorError(
      `${name} is damaged`,
      'Check the disk, and restore the database from a backup. Other days and tickers are not affected.',
    );
  }
  return content;
}

/**
 * Returns the number of decimals that is sufficient for all numbers of the columns. Returns `undefined` if a number has more than
 * DIGITS_MAX decimals. Ignores gaps.
 */
export function decimalDigitsOf(...columns: readonly Float64Array[]): number | undefined {
  let digits = 0;
  // When `digits` has changed, all numbers are checked again. Because of rounding, a number that is whole after multiplication by one power
  // of ten may not be whole after multiplication by a larger power.
  for (let before = -1; before !== digits; ) {
    before = digits;
    let times = 10 ** digits;
    for (const values of columns) {
      // An iterator of a typed array takes several times as long as an index.
      for (let row = 0; row < values.length; row++) {
        const value = values[row]!;
        while (!Number.isNaN(value) && !isWhole(value, times)) {
          if (++digits > DIGITS_MAX) return undefined;
          times = 10 ** digits;
        }
      }
    }
  }
  return digits;
}

/** Returns the whole numbers `values * 10 ** digits`. The values must have at most `digits` decimals. */
export function wholes(values: Float64Array, digits: number): Float64Array {
  const times = 10 ** digits;
  const whole = new Float64Array(values.length);
  for (let row = 0; row < whole.length; row++) whole[row] = Math.round(values[row]! * times);
  return whole;
}

function isWhole(value: number, times: number): boolean {
  const whole = Math.round(value * times);
  return whole / times === value && whole <= WHOLE_MAX && whole >= -WHOLE_MAX;
}

const baseOf = new Float64Array(1);
const baseBytes = new Uint8Array(baseOf.buffer);

const WHOLE = 1;
const FLOAT = 2;
const HEAD_BYTES = 12;
const SEAL_BYTES = 8;
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
