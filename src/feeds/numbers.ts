import type { CellRow } from '../core/delimited-rows.ts';
import { parseDecimal } from '../market/digits.ts';

/** The result for a value that is present but not a number. No field accepts infinity, so `buildChain` drops the value and counts it. */
const GARBLED = Number.POSITIVE_INFINITY;

/**
 * Parses a number of a table, with or without thousands separators. Returns NaN for an empty or missing cell, and for words such as `n/a`.
 * Returns infinity for any other text that is not a number.
 */
export function cellNumber(cell: string | undefined): number {
  const text = cell?.trim() ?? '';
  const short = shortDecimal(text);
  if (!Number.isNaN(short)) return short;
  const plain = parseDecimal(text);
  if (!Number.isNaN(plain)) return plain;
  if (NOT_GIVEN.has(text.toLowerCase())) return Number.NaN;
  return THOUSANDS.test(text) ? Number(text.replaceAll(',', '')) : GARBLED;
}

/** Parses a cell of a row like `cellNumber`, without a copy of its text if it is a usual number. */
export function numberOf(row: CellRow, cell: number): number {
  const value = row.decimal(cell);
  return Number.isNaN(value) && row.start(cell) < row.end(cell) ? cellNumber(row.text(cell)) : value;
}

/**
 * Parses short decimals such as `25.30` in a third of the time of `Number`, with the same result. Returns NaN for any other text. A number
 * of up to 15 digits is an exact double, and so is a power of ten up to 10^22. So one division rounds correctly.
 */
function shortDecimal(text: string): number {
  const from = text.charCodeAt(0) === MINUS ? 1 : 0;
  const length = text.length - from;
  if (length === 0 || length > SHORT_DIGITS) return Number.NaN;
  let value = 0;
  let places = -1;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit >= 0 && digit <= 9) {
      value = 10 * value + digit;
      if (places >= 0) places++;
    } else if (digit === POINT && places < 0) places = 0;
    else return Number.NaN;
  }
  if (length === 1 && places === 0) return Number.NaN;
  const size = places > 0 ? value / POWERS[places]! : value;
  return from === 1 ? -size : size;
}

/** Maximum length of a short decimal without its sign, characters. */
const SHORT_DIGITS = 15;
const MINUS = 0x2d;
/** The character code of the decimal point, minus the code of the digit 0. */
const POINT = 0x2e - 0x30;
const POWERS = Array.from({ length: SHORT_DIGITS + 1 }, (_, power) => 10 ** power);

/** Converts a JSON value to a number. Returns NaN for null and a missing value, and infinity for a value that is not a number. */
export function jsonNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return Number.NaN;
  return typeof value === 'string' ? cellNumber(value) : GARBLED;
}

/** Cell texts that mean a missing value, in lower case. */
const NOT_GIVEN: ReadonlySet<string> = new Set(['', 'nan', 'n/a', 'na', 'null', 'none', '-', '--']);
const THOUSANDS = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;
