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
  /** The smallest number that the column accepts. NaN if the cells of the column are not numbers. */
  readonly least: number;
  /** The condition that the text must meet, e.g. `must be C or P`. */
  readonly must: string;
  /** The value of an empty cell or a missing column. Without a default, an empty cell and a missing column are errors. */
  readonly default?: number;
}

/** Returns a column of numbers from `least` on. No column accepts a number that is too large for a double. */
function numbers(least: number, must: string): Cell {
  return {
    least,
    parse(text) {
      const value = parseDecimal(text);
      return value >= least && value <= Number.MAX_VALUE ? value : Number.NaN;
    },
    must,
  };
}

export const anyNumber = numbers(-Number.MAX_VALUE, 'must be a number');
/** The smallest normal double. Smaller ones have fewer digits, so their logarithms are inexact. */
const NORMAL_MIN = 2 ** -1022;

export const positive = numbers(NORMAL_MIN, 'must be a number above 0');
export const notNegative = numbers(0, 'must be a number, 0 or more');

/** Parses the side of an option to +1 for a call and -1 for a put. */
export const side: Cell = {
  least: Number.NaN,
  parse: (text) => parseCallPut(text) ?? Number.NaN,
  must: 'must be C or P',
};

export const orElse = (cell: Cell, byDefault: number): Cell => ({ ...cell, default: byDefault });
