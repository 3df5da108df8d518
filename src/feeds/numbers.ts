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
export function numberOf(row: RowScanner, cell: number): number {
  const value = row.decimal(cell);
  return Number.isNaN(value) ? textNumber(row, cell) : value;
}

/** Works like `numberOf` for a cell of some rows of the block. Writes the numbers to `column` from the index `at` on. */
export function numbersOf(
  row: RowScanner,
  cell: number,
  rows: readonly number[],
  column: Float64Array,
  at: number,
): void {
  if (cell < 0) {
    column.fill(Number.NaN, at, at + rows.length);
    return;
  }
  const decimals = row.numbers(cell, arenaColumn(0));
  for (let i = 0; i < rows.length; i++) {
    const value = decimals[rows[i]!]!;
    column[at + i] = value;
    if (!Number.isNaN(value)) continue;
    row.select(rows[i]!);
    column[at + i] = textNumber(row, cell);
  }
}

function textNumber(row: RowScanner, cell: number): number {
  return row.start(cell) < row.end(cell) ? cellNumber(row.text(cell)) : Number.NaN;
}

/** Converts a JSON value to a number. Returns NaN for null and a missing value, and infinity for a value that is not a number. */
export function jsonNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return Number.NaN;
  return typeof value === 'string' ? cellNumber(value) : GARBLED;
}

/** Cell texts that mean a missing value, in lower case. */
const NOT_GIVEN: ReadonlySet<string> = new Set(['', 'nan', 'n/a', 'na', 'null', 'none', '-', '--']);
const THOUSANDS = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;
