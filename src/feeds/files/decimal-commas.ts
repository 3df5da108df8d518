import { cleanLine } from '../../core/clean-text.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';

/** A number with a comma before its decimals, and optionally with points or spaces between its thousands. */
const NUMBER = /^([$+-]*)(\d{1,3}(?:[.\u0020\u00a0\u202f]\d{3})+|\d*)(?:,(\d+))?((?:e[+-]?\d+)?%?)$/i;

/** The largest number of numbers with a decimal comma, for each row and in all. Fewer are errors in a table with decimal points. */
const [SHARE_MAX, COUNT_MAX] = [0.1, 1];

/** Counts the numbers with a decimal comma in a table, which would be read as other numbers, or as none. */
export class DecimalCommas {
  #count = 0;
  #first = '';

  /** Adds a cell of a row if it has such a number. Rows count from 1. */
  add(text: string, row: number, column: string): void {
    if (!isDecimalComma(text)) return;
    if (this.#count++ === 0) this.#first = `"${cleanLine(text, 40)}" in row ${row}, column ${column}`;
  }

  /** Throws a `ClientError` if a table with `rows` rows is written with decimal commas. */
  assertFew(rows: number): void {
    if (this.#count <= Math.max(COUNT_MAX, SHARE_MAX * rows)) return;
    throw unreadable(
      `the numbers have decimal commas, first ${this.#first}. State decimal = "," below [forms] of a mapping, which \`zomma map guess\` drafts: docs/vendors.md`,
    );
  }
}

/** Returns whether a text is a number with a decimal comma. `1,250` may have a comma between thousands. */
export function isDecimalComma(text: string): boolean {
  return text.includes(',') && NUMBER.test(text) && !Number.isFinite(cellNumber(text.replace('$', '')));
}

/** Writes a number with a decimal comma with a decimal point. A number with a decimal point becomes a text that is no number. */
export function withPoint(text: string): string {
  const [match, sign = '', whole = '', decimals, end = ''] = NUMBER.exec(text.trim()) ?? [];
  if (match) return `${sign}${whole.replaceAll(/[^\d]/g, '')}${decimals === undefined ? '' : `.${decimals}`}${end}`;
  return Number.isFinite(cellNumber(text)) ? `?${text}` : text;
}
