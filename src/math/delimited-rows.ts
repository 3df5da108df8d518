import { RowField, RowFlag } from '../../assembly/columns.ts';
import { textIn } from '../core/memoize-bytes.ts';
import { arenaColumn, CHUNK_ROWS, kernels } from './kernels.ts';
import { CELLS, CELLS_MAX, INPUT, INPUT_BYTES, memoryBytes, memoryWords, powersOfTen, ROWS } from './text-area.ts';

/** The syntax of delimited text. */
export interface RowSyntax {
  /** The character between two cells, an ASCII character. */
  readonly delimiter: string;
  /** Maximum number of lines of a row. A row has more than one line if a cell in quotation marks has line breaks. */
  readonly linesMax: number;
  /** Maximum length of a row in UTF-16 code units, the characters of a string. */
  readonly charsMax: number;
  /**
   * If true, cells keep their quotation marks and whitespace, the first closing quotation mark counts, and a line break is LF or CRLF. If
   * false, cells have only their content, a mark closes a cell only before a delimiter or a line break, and a CR is a line break too.
   */
  readonly isRaw: boolean;
}

/** Finds the rows of delimited text, in blocks. The rows of a block are valid until any scanner scans the next block. */
export class RowScanner {
  /** The bytes in which the cells are, UTF-8. */
  readonly bytes: Uint8Array = memoryBytes;
  /** The index of the selected row in the block, and its number of cells. */
  row = 0;
  count = 0;
  /** Number of rows in the block. Empty lines are not rows. */
  rows = 0;
  /** True if the block has no row, because its first one has more than CELLS_MAX cells. */
  isCrowded = false;
  /** The bytes of cell i are [memoryWords[first + 2i], memoryWords[first + 2i + 1]). */
  #first = 0;
  #text: Uint8Array = memoryBytes;
  /** The address of a byte, minus its index in the text. */
  #offset = 0;
  /** The numbers of the columns that have been read in this block. */
  readonly #numbers: Float64Array[] = [];
  /** For each of these columns, the number of the block in which it was read. */
  readonly #readIn: number[] = [];
  #block = 0;

  constructor(private readonly syntax: RowSyntax) {}

  /**
   * Reads a block of rows from the bytes [from, to), and selects the first one. If `isLast` is false, the text goes on after `to`. Returns the
   * index after the block. This index is `from` if the row at `from` goes on after `to`, has more than 1.5 MiB, or is crowded.
   */
  scan(bytes: Uint8Array, from: number, to = bytes.length, isLast = true): number {
    const { delimiter, linesMax, charsMax, isRaw } = this.syntax;
    this.#block++;
    this.#text = bytes;
    this.#offset = INPUT - from;
    let next = from;
    for (const size of [BLOCK_BYTES, INPUT_BYTES]) {
      const end = Math.min(to, from + size);
      memoryBytes.set(bytes.subarray(from, end), INPUT);
      const rows = kernels.scanRows(
        ...([INPUT, INPUT + end - from, isLast && end === to, delimiter.charCodeAt(0), isRaw] as const),
        ...([Math.min(linesMax, INT_MAX), Math.min(BYTES_OF_CHAR_MAX * charsMax, INT_MAX)] as const),
        ...([CELLS, CELLS + 8 * CELLS_MAX, ROWS, CHUNK_ROWS] as const),
      );
      this.isCrowded = rows < 0;
      this.rows = Math.max(rows, 0);
      next = this.#field(this.rows, RowField.start) - this.#offset;
      if (next > from || end === to) break;
    }
    if (this.rows === 0) return next;
    this.select(this.rows - 1);
    // A row that is too long was scanned in part.
    if (!this.isTerminated && next < to) next = afterBreak(bytes, endOfLine(bytes, next, to), to);
    this.select(0);
    return next;
  }

  /** Number of lines of the block. */
  get lines(): number {
    return this.#field(this.rows, RowField.line);
  }

  /** Returns the number of cells of a row. */
  width(row: number): number {
    return (this.#field(row + 1, RowField.cells) - this.#field(row, RowField.cells)) >> 3;
  }

  /** Selects a row of the block, whose cells this object then has. */
  select(row: number): void {
    this.row = row;
    this.#first = this.#field(row, RowField.cells) >> 2;
    this.count = this.width(row);
  }

  /** Number of lines of the text before the row, without those of earlier blocks. */
  get line(): number {
    return this.#field(this.row, RowField.line);
  }

  /** True if the row ends with a line break, and not with the end of the bytes. */
  get isTerminated(): boolean {
    return this.#has(RowFlag.terminated);
  }

  /** True if a cell begins with a quotation mark that is never closed. The last cell is then the rest of the row. */
  get isOpen(): boolean {
    return this.#has(RowFlag.open);
  }

  /** True if text follows a quotation mark within a quoted cell. */
  get isMalformed(): boolean {
    return this.#has(RowFlag.malformed);
  }

  /** True if the row is longer than `charsMax`. The cells are then undefined. */
  get isLong(): boolean {
    const { charsMax } = this.syntax;
    const [start, end] = [this.#field(this.row, RowField.start), this.#field(this.row, RowField.end)];
    return end - start > charsMax && isLonger(this.#text, start - this.#offset, end - this.#offset, charsMax);
  }

  /** Returns the number in a cell, or NaN if the caller must parse the text of the cell. */
  decimal(cell: number): number {
    if (cell < 0) return Number.NaN;
    if (this.#readIn[cell] !== this.#block) this.#readColumn(cell);
    return this.#numbers[cell]![this.row]!;
  }

  #readColumn(cell: number): void {
    this.#readIn[cell] = this.#block;
    this.#numbers[cell] ??= new Float64Array(CHUNK_ROWS);
    this.#numbers[cell].set(this.numbers(cell, arenaColumn(0)));
  }

  /** Reads the numbers in a cell of each row to a column of the arena. Number i is NaN if the caller must parse the text of the cell. */
  numbers(cell: number, column: Float64Array): Float64Array {
    kernels.readColumn(this.rows, ROWS, cell, powersOfTen(), column.byteOffset);
    return column;
  }

  /** Returns the index of the first byte of a cell. The cell is empty if the row does not have it. */
  start(cell: number): number {
    return cell >= 0 && cell < this.count ? memoryWords[this.#first + 2 * cell]! : 0;
  }

  /** Returns the index after the last byte of a cell. */
  end(cell: number): number {
    return cell >= 0 && cell < this.count ? memoryWords[this.#first + 2 * cell + 1]! : 0;
  }

  /** Returns the text of a cell. Returns an empty text if the row does not have the cell. */
  text(cell: number): string {
    const [start, end] = [this.start(cell), this.end(cell)];
    return start === end ? '' : textIn(this.bytes, start, end);
  }

  /** Returns the text of the row as it is, without its line break. */
  rawText(): string {
    return textIn(this.bytes, this.#field(this.row, RowField.start), this.#field(this.row, RowField.end));
  }

  /** Returns whether all cells from index `from` on are empty. */
  isBlank(from = 0): boolean {
    const end = this.#first + 2 * this.count;
    for (let i = this.#first + 2 * from; i < end; i += 2) if (memoryWords[i] !== memoryWords[i + 1]) return false;
    return true;
  }

  /** Returns whether the row has at least `columns` cells, and all others are empty. A truncated or shifted row has wrong values. */
  isWhole(columns: number): boolean {
    return this.count === columns || (this.count > columns && this.isBlank(columns));
  }

  #has(flag: RowFlag): boolean {
    return (this.#field(this.row, RowField.flags) & flag) !== 0;
  }

  #field(row: number, field: RowField): number {
    return memoryWords[ROWS / 4 + RowField.size * row + field]!;
  }
}

/** A block has about this size, so that it stays in the cache. */
const BLOCK_BYTES = 128 * 1024;
const INT_MAX = 2 ** 30;
/** A character of a string (UTF-16 code unit) has at most this many bytes in UTF-8. */
export const BYTES_OF_CHAR_MAX = 3;
const [LF, CR] = [0x0a, 0x0d];

/** Returns whether the text [from, to) has more than `charsMax` characters. CRLF counts as one character. */
export function isLonger(bytes: Uint8Array, from: number, to: number, charsMax: number): boolean {
  if (to - from > BYTES_OF_CHAR_MAX * charsMax) return true;
  return to - from > charsMax && textIn(bytes, from, to).replaceAll('\r\n', '\n').length > charsMax;
}

/** Returns the index of the next line break (LF, CRLF or CR), or `to`. */
export function endOfLine(bytes: Uint8Array, from: number, to: number): number {
  const feed = bytes.indexOf(LF, from);
  const line = bytes.subarray(from, feed < 0 ? to : Math.min(feed, to));
  const back = line.indexOf(CR);
  return from + (back < 0 ? line.length : back);
}

/** Returns the index after the line break at `end`, or `to`. */
export function afterBreak(bytes: Uint8Array, end: number, to: number): number {
  return Math.min(to, bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1);
}
