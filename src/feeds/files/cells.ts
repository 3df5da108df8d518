import Papa from 'papaparse';
import { unreadable } from '../refused.ts';

/** A table found in a text: its header, in lower case, and the rows below it. */
export interface Table {
  readonly header: readonly string[];
  /** Lines above the header. */
  readonly preamble: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

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
 * Reads the table under the first line that is a header. Throws a Failure where there is none, a quote never closes, or the file
 * ends within a row: then nobody knows how much of it is missing.
 */
export function readTable(text: string, isHeader: IsHeader): Table {
  const lines = firstLines(text);
  const found = findHeader(lines, isHeader);
  if (found === undefined) throw unreadable('no header row was found');
  const preamble = lines.slice(0, found.at);
  const body = text.slice(preamble.reduce((length, line) => length + line.length + 1, 0));
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: found.delimiter, skipEmptyLines: 'greedy' });
  const unclosed = errors.find((error) => error.code === 'MissingQuotes');
  if (unclosed !== undefined) throw unreadable(`a quote opened in row ${unclosed.row ?? '?'} is never closed`);
  const rows = data.slice(1);
  const last = rows.at(-1);
  if (last !== undefined && last.length < found.header.length && !/\n\s*$/.test(text)) {
    throw unreadable(`the file ends within row ${rows.length}`);
  }
  return { header: found.header, preamble, rows };
}

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
  if (line.length > HEADER_LENGTH_MAX) return [];
  const cells = (Papa.parse<string[]>(line, { delimiter }).data[0] ?? []).map((cell) => cell.trim().toLowerCase());
  while (cells.at(-1) === '') cells.pop();
  return cells;
}

/** Longer first lines are not headers (a JSON document of one line, say). */
const HEADER_LENGTH_MAX = 10_000;
