import { RowItem } from '../../assembly/columns.ts';
import { arenaColumn, arenaSpan, CHUNK_ROWS, kernels, textArea } from './kernels.ts';

/** With this number of significant digits, a double can be restored exactly. */
export const ALL_DIGITS = 17;

/** The length for which space is reserved: few columns have longer numbers on average, with the comma. */
export const NUMBER_BYTES = 23;
/** The kernels write up to this many bytes after the end of a text. */
const SLACK_BYTES = 64;

/** Maximum number of columns of a table. A row or a block of rows then takes at most 1.7 MiB with its numbers, which fits into the output. */
const COLUMNS_MAX = 9;

// The text area has the powers of ten, the bytes that kernels read, and the bytes that kernels write.
const [POWER_MIN, POWER_MAX] = [-292, 324];
const POWERS_BYTES = 16 * (POWER_MAX - POWER_MIN + 1);
const INPUT = POWERS_BYTES + SLACK_BYTES;
/** The input has space for a row of a table, of which a piece of 256 KiB may be the end. */
const INPUT_BYTES = 1536 * 1024;
/** Rows are written in blocks of about this size, which stay in the cache. */
const BLOCK_BYTES = 128 * 1024;
const RANGES = INPUT + INPUT_BYTES + SLACK_BYTES;
const RANGES_BYTES = 8 * CHUNK_ROWS * (COLUMNS_MAX + 1);
const PATTERN = RANGES + RANGES_BYTES;
const OUTPUT = PATTERN + 2 * COLUMNS_MAX + 2;

const offsetOf = (place: number) => textArea.start + place;

/** Numbers that are written in one call. They are in the arena. */
const written = arenaSpan(0, 4);
/** Numbers that are read in one call. They are in the arena. */
const read = arenaSpan(0, 32);

let hasPowers = false;

/** Returns the offset of the powers of ten. Computes them at the first call, which takes 1 ms. See assembly/wide-product.ts. */
function powersOfTen(): number {
  if (hasPowers) return textArea.start;
  const table = new BigUint64Array(textArea.bytes.buffer, textArea.start, POWERS_BYTES / 8);
  for (let e = POWER_MIN; e <= POWER_MAX; e++) {
    const bits = BigInt(127 - Math.floor(e * Math.log2(10)));
    const dividend = (10n ** BigInt(Math.max(e, 0))) << (bits > 0n ? bits : 0n);
    const divisor = (10n ** BigInt(Math.max(-e, 0))) << (bits < 0n ? -bits : 0n);
    const power = (dividend + divisor - 1n) / divisor;
    table[2 * (e - POWER_MIN)] = power >> 64n;
    table[2 * (e - POWER_MIN) + 1] = BigInt.asUintN(64, power);
  }
  hasPowers = true;
  return textArea.start;
}

/** A text that grows, as UTF-8 bytes. */
export class ByteText {
  length = 0;
  #bytes: Buffer;

  /** `bytes` is the expected length of the text. */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** Removes the text. Further text takes the memory of the old one. */
  clear(): void {
    this.length = 0;
  }

  add(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.#reserve(3 * text.length);
    this.length += this.#bytes.write(text, this.length, encoding);
  }

  /**
   * Adds numbers, separated by commas, as `JSON.stringify` writes them: a number that is not finite becomes `null`. `digits` from 1 to 15
   * rounds a number that is not whole to so many significant digits. Null counts as a number that is not finite. If a value is neither a
   * number nor null, adds nothing and returns false.
   */
  addNumbers(values: Float64Array | readonly unknown[], digits = ALL_DIGITS): boolean {
    const { length } = this;
    for (let from = 0; from < values.length; from += written.length) {
      const count = Math.min(written.length, values.length - from);
      if (values instanceof Float64Array) written.set(values.subarray(from, from + count));
      else if (!copyNumbers(values, from, count)) {
        this.length = length;
        return false;
      }
      if (from > 0) this.add(',');
      this.#addOutput((out) => kernels.writeNumbers(count, written.byteOffset, digits, powersOfTen(), out));
    }
    return true;
  }

  /** Adds rows. Each ends with a line break. A row with more than 1.5 MiB causes a RangeError. */
  addRows(rows: WrittenRows): void {
    const { count, pattern, bytes, ranges, columns } = rows;
    if (columns.length > COLUMNS_MAX) throw new RangeError(`a table has at most ${COLUMNS_MAX} columns`);
    const parts = pattern.filter((item) => item === RowItem.copied).length;
    textArea.bytes.set(pattern, PATTERN);
    for (let row = 0, end = 0; row < count; row = end) {
      const from = ranges[2 * parts * row]!;
      do end++;
      while (end < count && end - row < CHUNK_ROWS && ranges[2 * parts * (end + 1) - 1]! - from <= BLOCK_BYTES);
      const used = ranges.subarray(2 * parts * row, 2 * parts * end);
      textArea.bytes.set(bytes.subarray(from, used.at(-1)), INPUT);
      textArea.bytes.set(new Uint8Array(used.buffer, used.byteOffset, used.byteLength), RANGES);
      for (const [i, column] of columns.entries()) arenaColumn(i).set(column.subarray(row, end));
      this.#addOutput((out) => writeBlock(end - row, pattern.length, offsetOf(INPUT) - from, out));
    }
  }

  /** Returns the bytes of the text. They are valid until the text changes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length) as Uint8Array<ArrayBuffer>;
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.length);
  }

  /** Adds the text that a kernel writes. `write` gets the offset of the text and returns the offset of its end. */
  #addOutput(write: (out: number) => number): void {
    const bytes = write(offsetOf(OUTPUT)) - offsetOf(OUTPUT);
    this.#reserve(bytes);
    this.#bytes.set(textArea.bytes.subarray(OUTPUT, OUTPUT + bytes), this.length);
    this.length += bytes;
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + bytes));
    larger.set(this.bytes());
    this.#bytes = larger;
  }
}

function copyNumbers(values: readonly unknown[], from: number, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const value = values[from + i];
    if (typeof value === 'number') written[i] = value;
    else if (value === null) written[i] = Number.NaN;
    else return false;
  }
  return true;
}

/**
 * Reads the JSON numbers, separated by commas, in the bytes [from, to). The numbers are those of `JSON.parse`. Returns undefined if the bytes
 * are anything else, no number, more than 33,024 numbers or 1.5 MiB, or have a number with more than 19 digits.
 */
export function readNumbers(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  if (to - from > INPUT_BYTES) return undefined;
  textArea.bytes.set(bytes.subarray(from, to), INPUT);
  textArea.bytes[INPUT + to - from] = 0;
  const start = offsetOf(INPUT);
  const count = kernels.readNumbers(start, start + to - from, powersOfTen(), read.byteOffset, read.length);
  return count < 0 ? undefined : read.slice(0, count);
}

/**
 * Reads columns of numbers from the cells of rows. `cells` has the start and the end of a cell for each column, row by row, as indices of `bytes`.
 * A number is NaN if its cell is not a JSON number, or if the kernel does not read the number: then the caller must parse the cell.
 */
export function readCells(bytes: Uint8Array, cells: Int32Array, columns: readonly Float64Array[]): void {
  const fits = bytes.length <= INPUT_BYTES;
  if (fits) textArea.bytes.set(bytes, INPUT);
  else for (const column of columns) column.fill(Number.NaN);
  const rowBytes = 8 * columns.length;
  const rows = Math.min(CHUNK_ROWS, Math.floor(RANGES_BYTES / rowBytes));
  for (let row = 0; fits && row < columns[0]!.length; row += rows) {
    const count = Math.min(columns[0]!.length - row, rows);
    const used = cells.subarray(2 * columns.length * row, 2 * columns.length * (row + count));
    textArea.bytes.set(new Uint8Array(used.buffer, used.byteOffset, used.byteLength), RANGES);
    for (const [i, column] of columns.entries()) {
      const read = arenaColumn(0);
      kernels.readCells(count, offsetOf(RANGES) + 8 * i, rowBytes, offsetOf(INPUT), powersOfTen(), read.byteOffset);
      column.set(read.subarray(0, count), row);
    }
  }
}

/** Rows of a table as bytes, whose unchanged parts are copied, and the columns with which the rows are written. */
export interface WrittenRows {
  readonly count: number;
  /** The items of a row: the first is `RowItem.copied`. Any other number than those of `RowItem` is the index of a column. */
  readonly pattern: Uint8Array;
  readonly bytes: Uint8Array;
  /** The start and the end of each copied part in `bytes`, in the order of the rows. */
  readonly ranges: Int32Array;
  /**
   * At most COLUMNS_MAX columns. A number that is not finite is left out. All other numbers have the shortest text that gives the same
   * double.
   */
  readonly columns: readonly Float64Array[];
}

function writeBlock(rows: number, items: number, base: number, out: number): number {
  const columns = arenaColumn(0).byteOffset;
  return kernels.writeRows(rows, offsetOf(PATTERN), items, base, offsetOf(RANGES), columns, powersOfTen(), out);
}
