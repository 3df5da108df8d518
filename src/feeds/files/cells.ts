import Papa from 'papaparse';
import { unreadable } from '../refused.ts';
import { withPlainBreaks } from './lines.ts';

/** A table found in a text: its header, in lower case, and the rows below it. */
export interface Table {
  readonly header: readonly string[];
  /** Lines above the header, cut at PREAMBLE_CHARS_MAX. */
  readonly preamble: readonly string[];
  /** Read once, row by row: all of them are never in memory together. Throws a Failure where the table has to be refused. */
  readonly rows: Iterable<readonly string[]>;
}

/** More than the largest chain, which is of 200,000 contracts. */
export const ROWS_MAX = 250_000;
/** Files on sale have up to 40. */
export const COLUMNS_MAX = 100;
/** Every second line may be empty. */
const LINES_MAX = 2 * ROWS_MAX;
/** A hundred columns take less. */
export const ROW_CHARS_MAX = 64 * 1024;
/** A cell of a table of figures has no line breaks; comments that people write have some. */
const LINES_OF_ROW_MAX = 16;
/** Titles and dates are short. */
const PREAMBLE_CHARS_MAX = 1_000;

/** How far down a header is looked for: tables carry a title, a date, and what people put above them. */
export const PREAMBLE_LINES_MAX = 50;

/** Marks that people and spreadsheets put between cells. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

type IsHeader = (cells: readonly string[]) => boolean;

/** Whether one of the first lines, as cells in lower case, is what is looked for. */
export function hasHeader(text: string, isHeader: IsHeader): boolean {
  return findHeader(firstLines(text), isHeader) !== undefined;
}

/**
 * The table under the first line that is a header. Throws a Failure where there is none or it has more columns than a table may have;
 * its rows throw one where they are too many or too long, a quote never closes, or the file ends within a row: then nobody knows how
 * much of it is missing.
 */
export function readTable(text: string, isHeader: IsHeader): Table {
  const lines = firstLines(text);
  const found = findHeader(lines, isHeader);
  if (found === undefined) throw unreadable('no header row was found');
  const { header, delimiter, at } = found;
  refuseWide(header);
  const start = lines.slice(0, at + 1).reduce((length, line) => length + line.length + 1, 0);
  const preamble = lines.slice(0, at).map((line) => line.slice(0, PREAMBLE_CHARS_MAX));
  return { header, preamble, rows: rowsOf(text, start, delimiter, header.length) };
}

/** Throws a Failure where a table has more columns than it may have. */
export function refuseWide({ length }: readonly string[]): void {
  if (length > COLUMNS_MAX) throw unreadable(`${length} columns, more than the ${COLUMNS_MAX} that a table may have`);
}

/** Text with its lines ended by `\n`. Throws a Failure where it has more lines than a table may have, before it makes anything of them. */
export function boundedLines(text: string): string {
  let lines = 0;
  for (const mark of ['\n', '\r']) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      // Of the two marks of one break the first is not counted.
      if (mark === '\r' && text[at + 1] === '\n') continue;
      if (++lines > LINES_MAX) throw unreadable(`more than the ${LINES_MAX} lines that a table may have`);
    }
  }
  return withPlainBreaks(text);
}

/** Rows that are not empty, from a place in the text on. */
function* rowsOf(text: string, start: number, delimiter: string, columns: number): Generator<readonly string[]> {
  let count = 0;
  for (let at = start; at < text.length; ) {
    let end = endOfLine(text, at);
    let cells = cellsOf(text.slice(at, refusedLong(at, end, count)), delimiter);
    for (let lines = 1; cells === undefined; lines++) {
      const isLast = end >= text.length || lines === LINES_OF_ROW_MAX;
      if (isLast) throw unreadable(`a quote opened in row ${count + 1} is never closed`);
      end = endOfLine(text, end + 1);
      cells = cellsOf(text.slice(at, refusedLong(at, end, count)), delimiter);
    }
    at = end + 1;
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (++count > ROWS_MAX) throw unreadable(`more than the ${ROWS_MAX} rows that a table may have`);
    if (at > text.length && cells.length < columns) throw unreadable(`the file ends within row ${count}`);
    yield cells;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The end of a row. Throws a Failure where the row is too long. */
function refusedLong(at: number, end: number, before: number): number {
  if (end - at > ROW_CHARS_MAX) throw unreadable(`row ${before + 1} has more than ${ROW_CHARS_MAX} characters`);
  return end;
}

/** Undefined where a quote does not close. */
function cellsOf(row: string, delimiter: string): readonly string[] | undefined {
  if (!row.includes('"')) return row.split(delimiter);
  const { data, errors } = Papa.parse<string[]>(row, { delimiter, newline: NO_BREAK });
  return errors.some(({ code }) => code === 'MissingQuotes') ? undefined : data[0];
}

/** Breaks within quotes belong to their cell, and there are no others: the row is one. */
const NO_BREAK = '\n';

/** The first of these lines that is a header, with the mark between its cells. */
export function findHeader(lines: readonly string[], isHeader: IsHeader) {
  for (const [at, line] of lines.entries()) {
    for (const delimiter of DELIMITERS) {
      const header = headerCells(line, delimiter);
      if (isHeader(header)) return { at, delimiter, header };
    }
  }
  return undefined;
}

/** Whether a row has a cell for every column and, but for empty ones, no more: a cut or shifted row would give wrong figures. */
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

/** Cells of a header line in lower case, without the empty ones some tables end with. */
function headerCells(line: string, delimiter: string): string[] {
  if (line.length > HEADER_CHARS_MAX) return [];
  const cells = (Papa.parse<string[]>(line, { delimiter }).data[0] ?? []).map((cell) => cell.trim().toLowerCase());
  while (cells.at(-1) === '') cells.pop();
  return cells;
}

/** Longer first lines are not headers (a JSON document of one line, say). */
export const HEADER_CHARS_MAX = 10_000;
