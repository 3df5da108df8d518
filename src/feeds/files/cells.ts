import Papa from 'papaparse';
import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { unreadable } from '../rejections.ts';
import { type FileFacts, type Format, READING } from './format.ts';
import { withPlainBreaks } from './lines.ts';

/** A table in a text. The names in the header of the table are in lower case. */
export interface Table {
  readonly header: readonly string[];
  /** The lines above the header, each cut after PREAMBLE_CHARS_MAX characters. */
  readonly preamble: readonly string[];
  /**
   * The rows below the header. The rows can be iterated only once. The iteration reads each row when it is requested, so the whole table is
   * never in memory. The iteration throws a `ClientError` if the table is rejected.
   */
  readonly rows: Iterable<readonly string[]>;
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

/** Number of lines at the start of a text in which a header is sought. The lines above a header have a title, a date and other text. */
export const PREAMBLE_LINES_MAX = 50;

/** The characters that separate cells in the tables that people and spreadsheets write. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Returns whether the cells of a line, in lower case, are the header of a table. */
type IsHeader = (cells: readonly string[]) => boolean;

/** Returns whether one of the first PREAMBLE_LINES_MAX lines is a header. */
export function hasHeader(text: string, isHeader: IsHeader): boolean {
  return findHeader(firstLines(text), isHeader) !== undefined;
}

/** Returns the format of tables whose header `isHeader` recognizes. `read` reads the rows. */
export function tableFormat(isHeader: IsHeader, read: (table: Table, file: FileFacts) => Steps<Delivery[]>): Format {
  return {
    claims: (text) => hasHeader(text, isHeader),
    *read(file) {
      const table = readTable(file.text, isHeader);
      yield READING;
      return yield* read(table, file);
    },
  };
}

/**
 * Reads the table below the first line that is a header. Throws a `ClientError` if no line is a header, or if the header has more than
 * COLUMNS_MAX columns. The iteration of the rows throws a `ClientError` if there are too many rows, if a row is too long, or if a quotation
 * mark is never closed. The iteration also throws a `ClientError` if the file ends within a row, because the rest of the data is missing.
 */
export function readTable(text: string, isHeader: IsHeader): Table {
  const lines = firstLines(text);
  const found = findHeader(lines, isHeader);
  if (found === undefined) throw unreadable('no header row was found');
  const { header, delimiter, row } = found;
  assertColumnCount(header);
  const start = lines.slice(0, row + 1).reduce((length, line) => length + line.length + 1, 0);
  const preamble = lines.slice(0, row).map((line) => line.slice(0, PREAMBLE_CHARS_MAX));
  return { header, preamble, rows: rowsOf(text, start, delimiter, header.length) };
}

/** Throws a `ClientError` if a table has more than COLUMNS_MAX columns. */
export function assertColumnCount({ length }: readonly string[]): void {
  if (length > COLUMNS_MAX)
    throw unreadable(`the table has ${length} columns, more than the maximum of ${COLUMNS_MAX}`);
}

/** Returns the text with the line break `\n`. Throws a `ClientError` if the text has more than LINES_MAX lines. */
export function boundedLines(text: string): string {
  let lines = 0;
  for (const lineBreak of ['\n', '\r']) {
    for (let i = text.indexOf(lineBreak); i >= 0; i = text.indexOf(lineBreak, i + 1)) {
      // CRLF is one line break, so the code counts only the `\n`.
      if (lineBreak === '\r' && text[i + 1] === '\n') continue;
      if (++lines > LINES_MAX) throw unreadable(`the table has more than the maximum of ${LINES_MAX} lines`);
    }
  }
  return withPlainBreaks(text);
}

/** Yields the rows that are not empty. The first row begins at the index `from` of the text. */
function* rowsOf(text: string, from: number, delimiter: string, columns: number): Generator<readonly string[]> {
  let count = 0;
  for (let start = from; start < text.length; ) {
    let end = endOfLine(text, start);
    let cells = splitRow(text.slice(start, checkedEnd(start, end, count)), delimiter);
    for (let lines = 1; cells === undefined; lines++) {
      const isLast = end >= text.length || lines === LINES_OF_ROW_MAX;
      if (isLast) throw unreadable(`a quotation mark in row ${count + 1} is never closed`);
      end = endOfLine(text, end + 1);
      cells = splitRow(text.slice(start, checkedEnd(start, end, count)), delimiter);
    }
    start = end + 1;
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (++count > FILE_ROWS_MAX) throw unreadable(`the table has more than the maximum of ${FILE_ROWS_MAX} rows`);
    if (start > text.length && cells.length < columns) throw unreadable(`the file ends within row ${count}`);
    yield cells;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Returns the parameter `end`, which is the index of the row's end. Throws a `ClientError` if the row is too long. */
function checkedEnd(start: number, end: number, rowsBefore: number): number {
  if (end - start > ROW_CHARS_MAX) throw unreadable(`row ${rowsBefore + 1} has more than ${ROW_CHARS_MAX} characters`);
  return end;
}

/** Returns the cells of a row, or `undefined` if a quotation mark is not closed. */
function splitRow(row: string, delimiter: string): readonly string[] | undefined {
  if (!row.includes('"')) return row.split(delimiter);
  const { data, errors } = Papa.parse<string[]>(row, { delimiter, newline: NO_BREAK });
  return errors.some(({ code }) => code === 'MissingQuotes') ? undefined : data[0];
}

/** The row separator for Papa. All line breaks in the text of a row are within quotation marks, so Papa reads the text as one row. */
const NO_BREAK = '\n';

/** Returns the index, the delimiter and the cells of the first line that is a header, or `undefined` if no line is a header. */
export function findHeader(lines: readonly string[], isHeader: IsHeader) {
  for (const [row, line] of lines.entries()) {
    for (const delimiter of DELIMITERS) {
      const header = headerCells(line, delimiter);
      if (isHeader(header)) return { row, delimiter, header };
    }
  }
  return undefined;
}

/** Returns whether a row has at least `columns` cells and all additional cells are empty. A truncated or shifted row has wrong values. */
export function isWholeRow(row: readonly string[], columns: number): boolean {
  return row.length >= columns && row.slice(columns).every((cell) => cell.trim() === '');
}

function firstLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; lines.length < PREAMBLE_LINES_MAX && start < text.length; ) {
    const end = text.indexOf('\n', start);
    lines.push(text.slice(start, end < 0 ? text.length : end));
    if (end < 0) break;
    start = end + 1;
  }
  return lines;
}

/** Returns the cells of a header line in lower case, without empty cells at its end. */
function headerCells(line: string, delimiter: string): string[] {
  if (line.length > HEADER_CHARS_MAX) return [];
  const cells = (Papa.parse<string[]>(line, { delimiter }).data[0] ?? []).map((cell) => cell.trim().toLowerCase());
  while (cells.at(-1) === '') cells.pop();
  return cells;
}

/** Maximum length of a header line, characters. A longer line may be a JSON document on one line. */
export const HEADER_CHARS_MAX = 10_000;
