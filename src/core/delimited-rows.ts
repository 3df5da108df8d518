import { decimalIn } from './decimal-bytes.ts';
import { textIn } from './memoize-bytes.ts';

/** The cells of one row, as ranges of bytes. The object is reused: the next row replaces the cells. */
export class CellRow {
  /** The bytes in which the cells are, UTF-8. */
  bytes: Uint8Array = new Uint8Array();
  /** Number of cells. */
  count = 0;
  /** The bytes of cell i are [ranges[2i], ranges[2i + 1]). */
  protected ranges = new Int32Array(128);
  /** Element i is 1 if byte i at an end of a cell is not whitespace. */
  protected plain = NO_WHITESPACE;

  /** Returns the index of the first byte of a cell. The cell is empty if the row does not have it. */
  start(cell: number): number {
    return cell >= 0 && cell < this.count ? this.ranges[2 * cell]! : 0;
  }

  /** Returns the index after the last byte of a cell. */
  end(cell: number): number {
    return cell >= 0 && cell < this.count ? this.ranges[2 * cell + 1]! : 0;
  }

  /** Returns the text of a cell. Returns an empty text if the row does not have the cell. */
  text(cell: number): string {
    return textIn(this.bytes, this.start(cell), this.end(cell));
  }

  /** Parses a cell with `decimalIn`. If the result is NaN, the caller must parse the text of the cell. */
  decimal(cell: number): number {
    return decimalIn(this.bytes, this.start(cell), this.end(cell));
  }

  /** Returns whether all cells from index `from` on are empty. */
  isBlank(from = 0): boolean {
    for (let i = 2 * from; i < 2 * this.count; i += 2) if (this.ranges[i] !== this.ranges[i + 1]) return false;
    return true;
  }

  /** Returns whether the row has at least `columns` cells, and all others are empty. A truncated or shifted row has wrong values. */
  isWhole(columns: number): boolean {
    return this.count === columns || (this.count > columns && this.isBlank(columns));
  }

  /** Replaces the cells by texts. Removes the whitespace at the ends of each text. */
  setTexts(texts: readonly string[]): void {
    this.bytes = Buffer.from(texts.join('\n'));
    this.count = 0;
    let start = 0;
    for (const text of texts) {
      const end = start + Buffer.byteLength(text);
      this.add(start, end);
      start = end + 1;
    }
  }

  /** Adds a cell without the whitespace at its ends. */
  protected add(start: number, end: number): void {
    const { bytes, plain } = this;
    let [from, to] = [start, end];
    if (start < end && (plain[bytes[start]!]! & plain[bytes[end - 1]!]!) === 0) {
      while (from < to && SPACES[bytes[from]!] === 1) from++;
      while (from < to && SPACES[bytes[to - 1]!] === 1) to--;
      if (from < to && Math.max(bytes[from]!, bytes[to - 1]!) >= 0x80) {
        const text = textIn(bytes, from, to);
        from += Buffer.byteLength(text.slice(0, text.length - text.trimStart().length));
        to = Math.max(from, to - Buffer.byteLength(text.slice(text.trimEnd().length)));
      }
    }
    const at = 2 * this.count++;
    if (at === this.ranges.length) this.enlarge();
    this.ranges[at] = from;
    this.ranges[at + 1] = to;
  }

  /** Makes space for more cells. */
  protected enlarge(): Int32Array<ArrayBuffer> {
    const ranges = new Int32Array(2 * this.ranges.length);
    ranges.set(this.ranges);
    this.ranges = ranges;
    return ranges;
  }
}

/** The syntax of delimited text. */
export interface RowSyntax {
  /** The character between two cells, an ASCII character. */
  readonly delimiter: string;
  /** Maximum number of lines of a row. A row has more than one line if a cell in quotation marks has line breaks. */
  readonly linesMax: number;
  /** Maximum length of a row in UTF-16 code units, the characters of a string. */
  readonly charsMax: number;
  /**
   * If true, cells keep their quotation marks and whitespace, a cell ends after its first closing quotation mark, and a line break is LF or
   * CRLF. If false, cells have only their content, a quotation mark closes a cell only before a delimiter or a line break, and a single CR
   * is a line break too.
   */
  readonly isRaw: boolean;
}

/** Finds the cells of rows in the bytes of delimited text. Neither copies nor decodes the bytes. */
export class RowScanner extends CellRow {
  /** Number of lines of the row. */
  lines = 0;
  /** True if the row ends with a line break, and not with the end of the bytes. */
  isTerminated = false;
  /** True if a cell begins with a quotation mark that is never closed. The last cell is then the rest of the row. */
  isOpen = false;
  /** True if text follows a quotation mark within a quoted cell. */
  isMalformed = false;
  /** True if the row is longer than `charsMax`. The cells are then undefined. */
  isLong = false;
  readonly #syntax: RowSyntax;
  readonly #bytesMax: number;
  /** The kind of each byte. */
  readonly #kinds = new Uint8Array(256);

  constructor(syntax: RowSyntax) {
    super();
    this.#syntax = syntax;
    this.#bytesMax = BYTES_OF_CHAR_MAX * syntax.charsMax;
    this.#kinds[QUOTE] = QUOTE_KIND;
    this.#kinds[LF] = BREAK_KIND;
    if (syntax.isRaw) this.plain = new Uint8Array(256).fill(1);
    else this.#kinds[CR] = BREAK_KIND;
    this.#kinds[syntax.delimiter.charCodeAt(0)] = DELIMITER_KIND;
  }

  /** Reads the row that begins at `from`, which is below `to`, in the bytes [from, to). Returns the index of the next row. */
  scan(bytes: Uint8Array, from: number, to: number): number {
    this.bytes = bytes;
    this.count = 0;
    this.lines = 1;
    this.isOpen = false;
    this.isMalformed = false;
    const kinds = this.#kinds;
    const { plain } = this;
    let { ranges } = this;
    // The bytes after `stop` are not read, because a row that goes on there is too long.
    const stop = Math.min(to, from + this.#bytesMax + 1) | 0;
    let start = this.#syntax.isRaw ? from : afterBom(bytes, from);
    let length = 0;
    // All bytes of a file pass through this loop. So the loop itself adds the usual cells.
    for (let at = start; at < stop; at++) {
      const kind = kinds[bytes[at]!]!;
      if (kind === 0 || (kind === QUOTE_KIND && at > start)) continue;
      if (kind === QUOTE_KIND) {
        this.count = length >> 1;
        return this.#scanQuoted(from, start, stop, to);
      }
      if (start === at || (plain[bytes[start]!]! & plain[bytes[at - 1]!]!) === 1) {
        if (length === ranges.length) ranges = this.enlarge();
        ranges[length] = start;
        ranges[length + 1] = at;
      } else {
        this.count = length >> 1;
        this.add(start, at);
        ranges = this.ranges;
      }
      length += 2;
      if (kind === BREAK_KIND) {
        this.count = length >> 1;
        return this.#end(from, at, to);
      }
      start = at + 1;
    }
    this.count = length >> 1;
    this.add(start, stop);
    return this.#end(from, stop, to);
  }

  /** Reads the rest of a row with quoted cells. A cell begins at `at`. */
  #scanQuoted(from: number, at: number, stop: number, to: number): number {
    const escaped: number[] = [];
    for (; ; at++) {
      if (at < stop && this.bytes[at] === QUOTE) at = this.#addQuoted(from, at, stop, escaped);
      else {
        const end = this.#endOfCell(at, stop);
        this.add(at, end);
        at = end;
      }
      if (at >= stop || this.#kinds[this.bytes[at]!] === BREAK_KIND) break;
    }
    const next = this.#end(from, at, to);
    if (escaped.length > 0) {
      const texts = Array.from({ length: this.count }, (_, cell) => this.text(cell));
      for (const cell of escaped) texts[cell] = texts[cell]!.replaceAll('""', '"');
      this.setTexts(texts);
    }
    return next;
  }

  /** Adds the quoted cell that begins at `start`. Adds its number to `escaped` if it has doubled quotes. Returns the end of the cell. */
  #addQuoted(from: number, start: number, stop: number, escaped: number[]): number {
    const { bytes } = this;
    const { isRaw, linesMax } = this.#syntax;
    let hasDoubled = false;
    let at = start + 1;
    for (; at < stop; at++) {
      const kind = this.#kinds[bytes[at]!];
      if (kind === BREAK_KIND) {
        if (this.lines === linesMax || this.#isLongAt(from, at)) break;
        this.lines++;
        if (bytes[at] === CR && bytes[at + 1] === LF) at++;
      }
      if (kind !== QUOTE_KIND) continue;
      if (at + 1 < stop && bytes[at + 1] === QUOTE) {
        hasDoubled = true;
        at++;
        continue;
      }
      if (isRaw) {
        const end = this.#endOfCell(at + 1, stop);
        this.add(start, end);
        return end;
      }
      let end = at + 1;
      while (end < stop && this.#kinds[bytes[end]!] === 0) end++;
      const isClosed = bytes[end] !== QUOTE && textIn(bytes, at + 1, end).trim() === '';
      if (!isClosed || (end > at + 1 && this.#kinds[bytes[end]!] !== DELIMITER_KIND)) this.isMalformed = true;
      if (!isClosed) continue;
      if (hasDoubled) escaped.push(this.count);
      this.add(start + 1, at);
      return end;
    }
    this.isOpen = true;
    this.add(start + 1, at);
    return at;
  }

  /** Returns the index of the next delimiter or line break, or `stop`. */
  #endOfCell(from: number, stop: number): number {
    let at = from;
    while (at < stop && this.#kinds[this.bytes[at]!]! <= QUOTE_KIND) at++;
    return at;
  }

  /** Ends the row before the line break at `at`. Returns the index of the next row. */
  #end(from: number, at: number, to: number): number {
    const { bytes } = this;
    this.isLong = this.#isLongAt(from, at);
    let end = at;
    if (this.isLong && end < to && this.#kinds[bytes[end]!] !== BREAK_KIND) {
      const feed = bytes.indexOf(LF, end);
      const line = bytes.subarray(end, feed < 0 ? to : Math.min(feed, to));
      const back = line.indexOf(CR);
      end += back < 0 ? line.length : back;
    }
    this.isTerminated = end < to;
    if (this.#syntax.isRaw && end > from && bytes[end - 1] === CR) this.ranges[2 * this.count - 1] = end - 1;
    if (!this.isTerminated) return to;
    return bytes[end] === CR && end + 1 < to && bytes[end + 1] === LF ? end + 2 : end + 1;
  }

  /** Returns whether a row that ends at `at` is too long. The length of a row counts CRLF as one character. */
  #isLongAt(from: number, at: number): boolean {
    const bytes = at - from;
    if (bytes <= this.#syntax.charsMax) return false;
    if (bytes > this.#bytesMax) return true;
    return textIn(this.bytes, from, at).replaceAll('\r\n', '\n').length > this.#syntax.charsMax;
  }
}

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22];
const [QUOTE_KIND, DELIMITER_KIND, BREAK_KIND] = [1, 2, 3];
/** A character of a string (UTF-16 code unit) has at most this many bytes in UTF-8. */
export const BYTES_OF_CHAR_MAX = 3;
/** Element i is 1 if byte i is whitespace of ASCII. */
const SPACES = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? 1 : 0));
/** Element i is 1 if byte i is not a part of whitespace in UTF-8. */
const NO_WHITESPACE = Uint8Array.from({ length: 256 }, (_, byte) => (byte > 0x20 && byte < 0x80 ? 1 : 0));

/** Returns the index after a byte-order mark. A mark is whitespace, so a quotation mark after it is at the start of a cell. */
function afterBom(bytes: Uint8Array, from: number): number {
  return bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf ? from + 3 : from;
}
