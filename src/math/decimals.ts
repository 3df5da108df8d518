import { RowField } from '../../assembly/columns.ts';
import { arenaColumn, arenaSpan, kernels } from './kernels.ts';
import { INPUT, INPUT_BYTES, memoryBytes, memoryWords, OUTPUT, PATTERN, powersOfTen, ROWS } from './text-area.ts';

/** With this number of significant digits, a double can be restored exactly. */
export const ALL_DIGITS = 17;

/** The length for which space is reserved: few columns have longer numbers on average, with the comma. */
export const NUMBER_BYTES = 23;
/** Maximum number of columns of a table. A block of rows then takes at most 1.7 MiB with its numbers, which fits into the output. */
const COLUMNS_MAX = 9;

/** Numbers that are written, and numbers that are read in one call. They are in the arena. */
const [written, read] = [arenaSpan(0, 4), arenaSpan(0, 32)];

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
   * Adds numbers, separated by commas, as `JSON.stringify` writes them: null and numbers that are not finite become `null`. `digits` from 1 to
   * 15 rounds a number that is not whole. If a value is neither a number nor null, adds nothing and returns false.
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

  /**
   * Adds the rows [from, to) of the block that a scanner has read last. `pattern` describes a row: items of `RowItem`, and indices of
   * `columns`. A number that is not finite is left out. Others have the shortest text that gives the same double.
   */
  addRows(from: number, to: number, pattern: Int32Array, columns: readonly Float64Array[]): void {
    if (columns.length > COLUMNS_MAX) throw new RangeError(`a table has at most ${COLUMNS_MAX} columns`);
    memoryWords.set(pattern, PATTERN / 4);
    for (const [i, column] of columns.entries()) arenaColumn(i).set(column.subarray(from, to));
    const first = ROWS + 4 * RowField.size * from;
    const numbers = arenaColumn(0).byteOffset;
    this.#addOutput((out) => kernels.writeRows(to - from, first, PATTERN, pattern.length, numbers, powersOfTen(), out));
  }

  /** Returns the bytes of the text. They are valid until the text changes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length) as Uint8Array<ArrayBuffer>;
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.length);
  }

  /** Adds the text that a kernel writes. `write` gets the address of the text and returns the address of its end. */
  #addOutput(write: (out: number) => number): void {
    const end = write(OUTPUT);
    this.#reserve(end - OUTPUT);
    this.#bytes.set(memoryBytes.subarray(OUTPUT, end), this.length);
    this.length += end - OUTPUT;
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
  memoryBytes.set(bytes.subarray(from, to), INPUT);
  memoryBytes[INPUT + to - from] = 0;
  const count = kernels.readNumbers(INPUT, INPUT + to - from, powersOfTen(), read.byteOffset, read.length);
  return count < 0 ? undefined : read.slice(0, count);
}
