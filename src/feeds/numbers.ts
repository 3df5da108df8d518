import { parseDecimal } from '../market/digits.ts';
import type { RowScanner } from '../math/delimited-rows.ts';
import { arenaColumn } from '../math/kernels.ts';

/** The result for a value that is present but not a number. No field accepts infinity, so `buildChain` drops the value and counts it. */
const GARBLED = Number.POSITIVE_INFINITY;

/** Parses a table's number, also with thousands separators. NaN for empty cells and words such as `n/a`, infinity for other texts. */
export function cellNumber(cell: string | undefined): number {
  const text = cell?.trim() ?? '';
  const plain = parseDecimal(text);
  if (!Number.isNaN(plain)) return plain;
  if (NOT_GIVEN.has(text.toLowerCase())) return Number.NaN;
  return THOUSANDS.test(text) ? Number(text.replaceAll(',', '')) : GARBLED;
}

/** Parses a cell of a row like `cellNumber`, without a copy of its text if it is a usual number. */
export function numberOf(row: RowScanner, cell: number, value = row.decimal(cell)): number {
  return Number.isNaN(value) && row.start(cell) < row.end(cell) ? cellNumber(row.text(cell)) : value;
}

/**
 * Writes the numbers in a cell of some rows of the block to `column`, as `numberOf` returns them. Calls `onGarbled` with each text that is no
 * number, while its row is selected. With `isStrict`, words such as `n/a` are unreadable values, and only empty cells and `nan` are missing ones.
 */
export function numbersOf(
  row: RowScanner,
  cell: number,
  rows: readonly number[],
  column: Float64Array,
  onGarbled: (text: string) => void,
  isStrict = false,
): void {
  const decimals = cell < 0 ? undefined : row.numbers(cell, arenaColumn(0));
  for (let i = 0; i < rows.length; i++) {
    const value = decimals?.[rows[i]!] ?? Number.NaN;
    column[i] = value;
    if (!Number.isNaN(value)) continue;
    row.select(rows[i]!);
    column[i] = numberOf(row, cell, value);
    if (column[i] === GARBLED) onGarbled(row.text(cell));
    else if (isStrict && isWord(row.text(cell))) column[i] = GARBLED;
  }
}

/** Converts a JSON value to a number. Returns NaN for null and a missing value, and infinity for a value that is not a number. */
export function jsonNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return Number.NaN;
  return typeof value === 'string' ? cellNumber(value) : GARBLED;
}

/** Returns whether a text is a word for a missing value. Programs write `nan` for an empty cell. */
function isWord(cell: string): boolean {
  const text = cell.trim().toLowerCase();
  return text !== '' && text !== 'nan' && NOT_GIVEN.has(text);
}

/** Cell texts that mean a missing value, in lower case. */
const NOT_GIVEN: ReadonlySet<string> = new Set(['', 'nan', 'n/a', 'na', 'null', 'none', '-', '--']);
const THOUSANDS = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/;
