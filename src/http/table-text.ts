import type { Steps } from '../core/steps.ts';
import { ByteText, NUMBER_BYTES } from '../math/decimals.ts';
import type { AnswerTable, TableCell } from '../operations/engine/answer-tables.ts';
import { writeJson } from './json-text.ts';

/** Number of cells that are written in one step of some 4 ms. */
const STEP_CELLS = 16_000;

/** Writes a table as CSV (RFC 4180) with a header. An absent value is an empty cell. Numbers have the text that they have in JSON. */
export function* writeCsv({ columns, count }: AnswerTable, digits?: number): Steps<string> {
  const parts = [`${columns.map(({ name }) => quoted(name)).join(',')}\r\n`];
  const rows = Math.max(1, Math.floor(STEP_CELLS / columns.length));
  for (let from = 0; from < count; from += rows) {
    if (from > 0) yield { message: 'Writing the table' };
    const texts = columns.map(({ cells }) => textsOf(cells.slice(from, from + rows), digits));
    for (let row = 0; row < texts[0]!.length; row++) {
      let line = texts[0]![row]!;
      for (let column = 1; column < texts.length; column++) line += `,${texts[column]![row]}`;
      parts.push(line, '\r\n');
    }
  }
  return parts.join('');
}

function textsOf(cells: readonly TableCell[] | Float64Array, digits: number | undefined): readonly string[] {
  const text = new ByteText(NUMBER_BYTES * cells.length);
  if (cells.length > 0 && text.addNumbers(cells, digits)) {
    return text
      .toString()
      .split(',')
      .map((each) => (each === 'null' ? '' : each));
  }
  return Array.from(cells, (cell) => (cell === null ? '' : typeof cell === 'string' ? quoted(cell) : String(cell)));
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
