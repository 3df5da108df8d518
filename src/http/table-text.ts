import type { Steps } from '../core/steps.ts';
import { ByteText, NUMBER_BYTES } from '../math/decimals.ts';
import type { AnswerTable, TableCell } from '../operations/engine/answer-tables.ts';
import { writeJson } from './json-text.ts';

/** Number of cells that are written in one step of some 4 ms. */
const STEP_CELLS = 16_000;

/**
 * Writes a table as CSV (RFC 4180) with a header. An absent value is an empty cell, and in a table of one column an empty text, because readers
 * skip empty lines. Numbers have the text that they have in JSON.
 */
export function* writeCsv({ columns, count }: AnswerTable, digits?: number): Steps<string> {
  const parts = [columns.map(({ name }) => quoted(name)).join(',')];
  const absent = columns.length === 1 ? '""' : '';
  const rows = Math.max(1, Math.floor(STEP_CELLS / columns.length));
  for (let from = 0; from < count; from += rows) {
    if (from > 0) yield { message: 'Writing the table' };
    const texts = columns.map(({ cells }) => textsOf(cells.slice(from, from + rows), digits, absent));
    // A step joins its own lines, because all lines together would take the last step too long.
    parts.push(texts[0]!.map((_, row) => texts.map((column) => column[row]).join(',')).join('\r\n'));
  }
  return `${parts.join('\r\n')}\r\n`;
}

function textsOf(cells: readonly TableCell[] | Float64Array, digits: number | undefined, absent: string): string[] {
  const numbers = numbersOf(cells, digits);
  if (numbers) return numbers.map((each) => (each === 'null' ? absent : each));
  return Array.from(cells, (cell) => {
    if (cell === null) return absent;
    if (typeof cell === 'string') return quoted(cell);
    return numbersOf([cell], digits)?.[0] ?? String(cell);
  });
}

/** Returns the texts of numbers. Returns undefined if one of the cells is not a number or null. */
function numbersOf(cells: readonly TableCell[] | Float64Array, digits: number | undefined): string[] | undefined {
  const text = new ByteText(NUMBER_BYTES * cells.length);
  return cells.length > 0 && text.addNumbers(cells, digits) ? text.toString().split(',') : undefined;
}

/** Quotes a text if it has a comma, a quote or a line break, or if it is empty, because an empty cell is an absent value. */
function quoted(text: string): string {
  return text === '' || SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const SPECIAL = /[",\r\n]/;

/** Writes a table as JSON: its columns in an object of their own, beside the rest of the answer. */
export function* writeColumnsJson({ columns, count, metadata }: AnswerTable, digits?: number): Steps<string> {
  const own = Object.fromEntries(columns.map(({ name, cells }) => [name, cells]));
  return (yield* writeJson({ ...metadata, count, columns: own }, digits)).toString();
}
