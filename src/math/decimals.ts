import { arenaColumn, arenaSpan, CHUNK_ROWS, kernels, textArea } from './kernels.ts';

/** With this number of significant digits, a double can be restored exactly. */
export const ALL_DIGITS = 17;

/** A number takes at most this many bytes, with a comma: `-1.2345678901234567e-300,`. */
const NUMBER_BYTES = 25;
/** The kernels write up to this many bytes after the end of a text. */
const SLACK_BYTES = 64;

// The text area has the powers of ten, the bytes that kernels read, and the bytes that kernels write.
const [POWER_MIN, POWER_MAX] = [-292, 324];
const POWERS_BYTES = 16 * (POWER_MAX - POWER_MIN + 1);
const INPUT = POWERS_BYTES + SLACK_BYTES;
const INPUT_BYTES = 128 * 1024;
/** Maximum number of columns of a table. A block of rows then takes at most 375 KiB with its numbers, which fits into the text area. */
const COLUMNS_MAX = 9;
const RANGES = INPUT + INPUT_BYTES + SLACK_BYTES;
const RANGES_BYTES = 8 * CHUNK_ROWS * (COLUMNS_MAX + 1);
const PATTERN = RANGES + RANGES_BYTES;
const OUTPUT = PATTERN + 2 * COLUMNS_MAX + 2;

const offsetOf = (place: number) => textArea.start + place;

/** Numbers that are written in one call. They are in the arena. */
const written = arenaSpan(0, 4);
/** Numbers that are read in one call. A number takes at least two bytes of text, with its comma. */
const read = arenaSpan(0, 32);
const READ_BYTES = Math.min(INPUT_BYTES, 2 * read.length);

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

  add(text: string): void {
    this.#reserve(3 * text.length);
    this.length += this.#bytes.write(text, this.length);
  }

  /**
   * Adds numbers, separated by commas, as `JSON.stringify` writes them: a number that is not finite becomes `null`. `digits` from 1 to 16
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
      const out = offsetOf(OUTPUT);
      const bytes = kernels.writeNumbers(count, written.byteOffset, digits, powersOfTen(), out) - out;
      this.#reserve(bytes);
      this.#bytes.set(textArea.bytes.subarray(OUTPUT, OUTPUT + bytes), this.length);
      this.length += bytes;
    }
    return true;
  }

  /** Returns the bytes of the text. They are valid until the text grows. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length) as Uint8Array<ArrayBuffer>;
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.length);
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
 * Reads the JSON numbers, separated by commas, in the bytes [from, to). Returns undefined if the bytes are anything else, or no number. The
 * numbers are those of `JSON.parse`.
 */
export function readNumbers(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  // A piece ends before a comma.
  const pieces: Float64Array[] = [];
  for (let start = from; start <= to; ) {
    const end = to - start <= READ_BYTES ? to : bytes.lastIndexOf(COMMA, start + READ_BYTES);
    const column = end < start ? undefined : (readPiece(bytes, start, end) ?? parsedPiece(bytes, start, end));
    if (!column) return undefined;
    pieces.push(column);
    start = end + 1;
  }
  if (pieces.length === 1) return pieces[0];
  const all = new Float64Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let row = 0;
  for (const piece of pieces) {
    all.set(piece, row);
    row += piece.length;
  }
  return all;
}

function readPiece(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  textArea.bytes.set(bytes.subarray(from, to), INPUT);
  textArea.bytes[INPUT + to - from] = 0;
  const start = offsetOf(INPUT);
  const count = kernels.readNumbers(start, start + to - from, powersOfTen(), read.byteOffset);
  return count < 0 ? undefined : read.slice(0, count);
}

/** Reads numbers that the kernel does not read, such as numbers with more than 19 digits. */
function parsedPiece(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  try {
    const values: unknown = JSON.parse(
      `[${Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).latin1Slice()}]`,
    );
    return Array.isArray(values) && values.length > 0 && values.every((each) => typeof each === 'number')
      ? Float64Array.from(values)
      : undefined;
  } catch {
    return undefined;
  }
}

const COMMA = 0x2c;

/** Rows of a table as bytes, whose unchanged parts are copied, and the columns with which the rows are written. */
export interface WrittenRows {
  readonly count: number;
  /** The cells of a row: 0 is an unchanged part of the row, and n > 0 is the number of column n - 1. At most COLUMNS_MAX columns. */
  readonly pattern: Uint8Array;
  readonly bytes: Uint8Array;
  /** The start and the end of each unchanged part in `bytes`, in the order of the rows. */
  readonly ranges: Uint32Array;
  /** A number that is not finite gives an empty cell. All other numbers have the shortest text that gives the same double. */
  readonly columns: readonly Float64Array[];
}

/** Writes rows of comma-separated cells. Each row ends with a line break. Returns the bytes in pieces. */
export function writeRows(rows: WrittenRows): Uint8Array[] {
  const { count, pattern, bytes, ranges, columns } = rows;
  if (columns.length > COLUMNS_MAX) throw new RangeError(`a table has at most ${COLUMNS_MAX} columns`);
  const parts = pattern.reduce((sum, kind) => sum + (kind === 0 ? 1 : 0), 0);
  const pieces: Uint8Array[] = [];
  textArea.bytes.set(pattern, PATTERN);
  for (let row = 0; row < count; ) {
    // A row begins at the start of its first part. The last row of a block may not fit, and is then written in the next block.
    const from = parts > 0 ? ranges[2 * parts * row]! : 0;
    let end = row;
    const fits = (next: number) => parts === 0 || ranges[2 * parts * (next + 1) - 1]! - from <= INPUT_BYTES;
    while (end < count && end - row < CHUNK_ROWS && fits(end)) end++;
    if (end === row) pieces.push(longRow(rows, row++, parts));
    else {
      const used = ranges.subarray(2 * parts * row, 2 * parts * end);
      const to = used.at(-1) ?? from;
      textArea.bytes.set(bytes.subarray(from, to), INPUT);
      textArea.bytes.set(new Uint8Array(used.buffer, used.byteOffset, used.byteLength), RANGES);
      for (const [i, column] of columns.entries()) arenaColumn(i).set(column.subarray(row, end));
      pieces.push(writeBlock(end - row, pattern.length, from));
      row = end;
    }
  }
  return pieces;
}

function writeBlock(rows: number, items: number, from: number): Uint8Array {
  const [base, columns, out] = [offsetOf(INPUT) - from, arenaColumn(0).byteOffset, offsetOf(OUTPUT)];
  const end = kernels.writeRows(rows, offsetOf(PATTERN), items, base, offsetOf(RANGES), columns, powersOfTen(), out);
  return new Uint8Array(textArea.bytes.subarray(OUTPUT, OUTPUT + end - out));
}

/** Writes a row that is longer than the text area. */
function longRow({ pattern, bytes, ranges, columns }: WrittenRows, row: number, parts: number): Uint8Array {
  let range = 2 * parts * row;
  const cells = Array.from(pattern, (kind) => {
    if (kind === 0) return Buffer.from(bytes.subarray(ranges[range++], ranges[range++])).latin1Slice();
    const value = columns[kind - 1]![row]!;
    return Number.isFinite(value) ? String(value) : '';
  });
  return Buffer.from(`${cells.join(',')}\n`, 'latin1');
}
