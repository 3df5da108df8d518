import { textIn } from '../../core/memoize-bytes.ts';
import { afterBreak, BYTES_OF_CHAR_MAX, endOfLine, isLonger, RowScanner } from '../../math/delimited-rows.ts';
import { withPlainBreaks } from './lines.ts';

/** Number of lines at the start of a text in which a header is sought. */
export const PREAMBLE_LINES_MAX = 50;
/** Maximum length of a header line, characters. A longer line may be a JSON document on one line. */
const HEADER_CHARS_MAX = 10_000;
/** Number of characters in which the first lines are sought. */
const HEAD_CHARS = PREAMBLE_LINES_MAX * HEADER_CHARS_MAX;
/** Number of bytes at the start of a text that have at least 5,000 characters. */
const TEXT_BYTES = 20_000;

/** Takes the cells of a line in lower case. */
export type IsHeader = (cells: readonly string[]) => boolean;

/** The header of a table. */
export interface TableHeader {
  /** The cells in lower case, without empty cells at the end of the line. */
  readonly cells: readonly string[];
  /** The character between two cells. */
  readonly delimiter: string;
  /** Number of lines above the header. */
  readonly row: number;
  /** Index of the first byte after the header line. */
  readonly end: number;
}

/** The start of a text, from which the format of a file is detected. */
export class FileHead {
  /** The lines that may be a header, and all text above them, in lower case and with the line break `\n`. At least 5,000 characters. */
  readonly text: string;
  /** For each of the first lines, the index after its line break (LF, CRLF or CR). */
  readonly #ends: number[] = [];
  /** The cells of lines, by the index of the line and the delimiter. */
  readonly #cells = new Map<string, readonly string[]>();

  constructor(readonly bytes: Uint8Array) {
    const to = Math.min(bytes.length, BYTES_OF_CHAR_MAX * HEAD_CHARS);
    const start = bytes.subarray(0, to);
    const isIn = (at: number) => at < to && (at < HEAD_CHARS || textIn(bytes, 0, at).length < HEAD_CHARS);
    let size = Math.min(bytes.length, TEXT_BYTES);
    for (let at = 0; isIn(at) && this.#ends.length < PREAMBLE_LINES_MAX; ) {
      const end = endOfLine(start, at, to);
      const isLong = isLonger(bytes, at, end, HEADER_CHARS_MAX);
      at = afterBreak(bytes, end, to);
      this.#ends.push(at);
      if (!isLong) size = Math.max(size, at);
    }
    this.text = withPlainBreaks(textIn(bytes, 0, size)).toLowerCase();
  }

  /** Number of lines in which a header is sought. */
  get lines(): number {
    return this.#ends.length;
  }

  /**
   * Returns the first line that is a header. Each text with a header matches `words`, and texts are in lower case. If each line that is a header
   * matches `lineWords`, no other lines are split into cells.
   */
  findHeader(isHeader: IsHeader, words: RegExp, lineWords?: RegExp): TableHeader | undefined {
    // Most files are in another format. The search for words takes less time than the search for cells.
    if (!words.test(this.text)) return undefined;
    const lines = lineWords && this.text.split('\n', this.#ends.length);
    for (const [row, end] of this.#ends.entries()) {
      if (lines && !lineWords.test(lines[row] ?? '')) continue;
      const start = this.#ends[row - 1] ?? 0;
      for (const [delimiter, scanner] of SCANNERS) {
        if (delimiter !== ',' && !this.bytes.subarray(start, end).includes(delimiter.charCodeAt(0))) continue;
        const key = row + delimiter;
        const cells = this.#cells.get(key) ?? headerCells(scanner, this.bytes, start, end);
        this.#cells.set(key, cells);
        if (isHeader(cells)) return { cells, delimiter, row, end };
      }
    }
    return undefined;
  }

  /** Returns the first `count` lines without their line breaks, each cut after `charsMax` characters. */
  firstLines(count: number, charsMax: number): string[] {
    return this.#ends.slice(0, count).map((end, i) => {
      const line = textIn(this.bytes, this.#ends[i - 1] ?? 0, end);
      return line.replace(/\r?\n$|\r$/, '').slice(0, charsMax);
    });
  }
}

/** The characters that separate cells in the tables that people and spreadsheets write, with a scanner for each of them. */
const SCANNERS = [',', ';', '\t', '|'].map((delimiter) => {
  const syntax = { delimiter, linesMax: 1, charsMax: HEADER_CHARS_MAX, isRaw: false };
  return [delimiter, new RowScanner(syntax)] as const;
});

/** Returns the cells of a line in lower case, without empty cells at its end. Returns no cells if the line is too long for a header. */
function headerCells(scanner: RowScanner, bytes: Uint8Array, start: number, end: number): string[] {
  scanner.scan(bytes, start, end);
  if (scanner.rows === 0 || scanner.isLong) return [];
  const cells = Array.from({ length: scanner.count }, (_, cell) => scanner.text(cell).toLowerCase());
  while (cells.at(-1) === '') cells.pop();
  return cells;
}
