import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { unreadable } from '../rejections.ts';
import type { IsHeader } from './file-head.ts';
import { type Format, type MarketFile, READING } from './format.ts';

/** A table in a text. */
export interface Table {
  /** The names of the columns in lower case. */
  readonly header: readonly string[];
  /** The non-empty rows, once, as the same object; `undefined` ends a step of the reader. Throws a `ClientError` on rejection. */
  readonly rows: Iterable<RowScanner | undefined>;
  /** The lines above the header, each cut after PREAMBLE_CHARS_MAX characters. */
  readonly preamble: readonly string[];
}

/** Maximum number of rows of a table. A chain may have 200,000 contracts. */
export const FILE_ROWS_MAX = 250_000;
/** Maximum number of columns of a table. Files that vendors sell have up to 40 columns. */
export const COLUMNS_MAX = 100;
/** Maximum number of lines of a text with a table. Every second line may be empty. */
const LINES_MAX = 2 * FILE_ROWS_MAX;
/** Maximum length of a row, characters. Even a row with COLUMNS_MAX columns is shorter than this maximum. */
export const ROW_CHARS_MAX = 64 * 1024;
/** Maximum number of lines of a row. A number in a cell has no line breaks. A cell with a comment has a few line breaks. */
const LINES_OF_ROW_MAX = 16;
/** Maximum length of a line above the header, characters. Longer lines are cut. Titles and dates are short. */
const PREAMBLE_CHARS_MAX = 1_000;

/** Returns the format of tables whose header `isHeader` recognizes. Each header matches `words`. */
export function tableFormat(
  isHeader: IsHeader,
  words: RegExp,
  read: (table: Table, file: MarketFile) => Steps<Delivery[]>,
): Format {
  return {
    claims: (head) => head.findHeader(isHeader, words) !== undefined,
    *read(file) {
      const table = yield* readTable(file, isHeader, words);
      yield READING;
      return yield* read(table, file);
    },
  };
}

/**
 * Reads the table below the first line that is a header. Throws a `ClientError` if the text exceeds a bound, or if no line is a header. So
 * does the iteration of the rows if a row is too long or never ends, or if the file ends within a row, because the rest is missing.
 */
export function* readTable({ bytes, head }: MarketFile, isHeader: IsHeader, words: RegExp): Steps<Table> {
  yield* assertLineCount(bytes);
  const found = head.findHeader(isHeader, words);
  if (found === undefined) throw unreadable('no header row was found');
  const { cells: header, delimiter, row, end } = found;
  assertColumnCount(header);
  const preamble = head.firstLines(row, PREAMBLE_CHARS_MAX);
  return { header, preamble, rows: rowsOf(bytes, end, delimiter, header.length) };
}

export function assertColumnCount({ length }: readonly string[]): void {
  if (length > COLUMNS_MAX)
    throw unreadable(`the table has ${length} columns, more than the maximum of ${COLUMNS_MAX}`);
}

/** Throws a `ClientError` if a text has more than LINES_MAX line breaks (LF, CRLF or CR). */
function* assertLineCount(bytes: Uint8Array): Steps<void> {
  if (bytes.length <= LINES_MAX) return;
  let lines = 0;
  for (const lineBreak of [CR, LF]) {
    for (let i = bytes.indexOf(lineBreak); i >= 0; i = bytes.indexOf(lineBreak, i + 1)) {
      // Each further byte is one LF at most.
      if (lineBreak === LF && lines + bytes.length - i <= LINES_MAX) return;
      if (lineBreak === CR && bytes[i + 1] === LF) continue;
      if (++lines % STEP_LINES === 0) yield READING;
      if (lines > LINES_MAX) throw unreadable(`the table has more than the maximum of ${LINES_MAX} lines`);
    }
  }
}

/** Number of lines that are counted in one step. A step takes some milliseconds. */
const STEP_LINES = 100_000;
const [LF, CR] = [0x0a, 0x0d];

/** Yields the rows that are not empty, and `undefined` between two blocks of rows. The first row begins at the index `from` of the bytes. */
function* rowsOf(
  bytes: Uint8Array,
  from: number,
  delimiter: string,
  columns: number,
): Generator<RowScanner | undefined> {
  const row = new RowScanner({ delimiter, linesMax: LINES_OF_ROW_MAX, charsMax: ROW_CHARS_MAX, isRaw: false });
  let count = 0;
  for (let at = from; at < bytes.length; ) {
    // Other readers may use the scanner's memory during a pause.
    if (at > from) yield undefined;
    at = row.scan(bytes, at);
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      if (row.isLong) throw unreadable(`row ${count + 1} has more than ${ROW_CHARS_MAX} characters`);
      if (row.isOpen) throw unreadable(`a quotation mark in row ${count + 1} is never closed`);
      if (row.isBlank()) continue;
      if (++count > FILE_ROWS_MAX) throw unreadable(`the table has more than the maximum of ${FILE_ROWS_MAX} rows`);
      if (!row.isTerminated && row.count < columns) throw unreadable(`the file ends within row ${count}`);
      yield row;
    }
  }
}
