/** What a command computes of each row: cells by name in, columns by name out. */
export interface RowKernel<Name extends string = string> {
  readonly inputs: Readonly<Record<Name, Cell>>;
  readonly outputs: readonly string[];
  /** Why a row whose cells are good can have no answer. */
  readonly unanswered: string;
  /** Output columns of `count` rows, in the order of `outputs`; each row depends on that row alone. */
  compute(count: number, columns: Readonly<Record<Name, Float64Array>>): readonly Float64Array[];
}

/** How a cell is read. */
export interface Cell {
  /** The number that the text stands for; NaN where it stands for none that is good here. */
  parse(text: string): number;
  readonly must: string;
  /** Stands for an empty cell, and for the column where there is none; without it, both are faults. */
  readonly default?: number;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The nearest double of a decimal number; NaN for any other text and for what no double can hold. */
function decimal(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}

function within(isGood: (value: number) => boolean): (text: string) => number {
  return (text) => {
    const value = decimal(text);
    return isGood(value) ? value : Number.NaN;
  };
}

export const anyNumber: Cell = { parse: decimal, must: 'must be a number' };
/** Below it a double has lost digits, and a logarithm its sense. */
const NORMAL_MIN = 2 ** -1022;

export const positive: Cell = { parse: within((value) => value >= NORMAL_MIN), must: 'must be a number above 0' };
export const notNegative: Cell = { parse: within((value) => value >= 0), must: 'must be a number, 0 or more' };

/** +1 for a call, -1 for a put, as kernels take it. */
export const side: Cell = {
  parse: (text) => SIDES.get(text) ?? SIDES.get(text.toUpperCase()) ?? Number.NaN,
  must: 'must be C or P',
};

const SIDES: ReadonlyMap<string, number> = new Map([
  ['C', 1],
  ['P', -1],
  ['CALL', 1],
  ['PUT', -1],
]);

export const orElse = (cell: Cell, byDefault: number): Cell => ({ ...cell, default: byDefault });
