import { parseDecimal } from '../../market/digits.ts';
import { parseCallPut } from '../../market/option-symbol.ts';

/** The computation that a command does for each row of a CSV. The inputs and the outputs are named columns. */
export interface RowKernel<Name extends string = string> {
  readonly inputs: Readonly<Record<Name, Cell>>;
  readonly outputs: readonly string[];
  /** The message for a row that has no result although its cells are valid. */
  readonly unanswered: string;
  /** Returns the output columns of `count` rows, in the order of `outputs`. A row's outputs depend only on the inputs of the same row. */
  compute(count: number, columns: Readonly<Record<Name, Float64Array>>): readonly Float64Array[];
}

/** An input column of a CSV: the parser of its cells, and the default value of an empty cell. */
export interface Cell {
  /** Returns the number in the text, or NaN if the column does not accept the text. */
  parse(text: string): number;
  /** The condition that the text must meet, e.g. `must be C or P`. */
  readonly must: string;
  /** The value of an empty cell or a missing column. Without a default, an empty cell and a missing column are errors. */
  readonly default?: number;
}

/** Returns the double nearest to a decimal number. Returns NaN for a number that is too large, and for any other text. */
function decimal(text: string): number {
  const value = parseDecimal(text);
  return Number.isFinite(value) ? value : Number.NaN;
}

function within(isGood: (value: number) => boolean): (text: string) => number {
  return (text) => {
    const value = decimal(text);
    return isGood(value) ? value : Number.NaN;
  };
}

export const anyNumber: Cell = { parse: decimal, must: 'must be a number' };
/** The smallest normal double. Smaller (subnormal) doubles have fewer digits, so their logarithms are inexact. */
const NORMAL_MIN = 2 ** -1022;

export const positive: Cell = { parse: within((value) => value >= NORMAL_MIN), must: 'must be a number above 0' };
export const notNegative: Cell = { parse: within((value) => value >= 0), must: 'must be a number, 0 or more' };

/** Parses the side of an option to +1 for a call and -1 for a put. */
export const side: Cell = {
  parse: (text) => parseCallPut(text) ?? Number.NaN,
  must: 'must be C or P',
};

export const orElse = (cell: Cell, byDefault: number): Cell => ({ ...cell, default: byDefault });
