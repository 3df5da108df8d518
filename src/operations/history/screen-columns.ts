import { type Static, Type } from '@sinclair/typebox';
import { invalidArgument } from '../../core/errors.ts';
import { integerField, momentField, namedObject, number, oneOf } from '../engine/schemas.ts';
import { IV_NOTED } from '../engine/unlikely-units.ts';
import { nullable, numberOrNull } from '../engine/wrapped-schemas.ts';
import { regimeField } from '../gex/gamma-regime.ts';
import { headFields } from '../reading/market-reading.ts';

/** The schema of a row: the newest levels of one ticker. */
export const screenRow = namedObject('ScreenRow', undefined, {
  ...headFields,
  gex_flip: numberOrNull(
    'Spot at which net dealer gamma changes sign, dollars; null if it has one sign within 50 % of spot.',
  ),
  flip_distance_pct: numberOrNull(
    'Distance between spot and flip, percent of spot, never negative; null if gex_flip is null.',
  ),
  spot_vs_flip: nullable(
    oneOf(['above', 'below'], 'Side of the flip on which spot is.'),
    'above if spot is at or above the flip, else below; null if gex_flip is null.',
  ),
  regime: regimeField(
    'positive_gamma or negative_gamma, by the sign of net GEX; undetermined if the sign is not certain.',
  ),
  net_gex_mil: number('Net dealer gamma exposure, millions of dollars per 1 % move.'),
  net_over_gross_pct: number('Net gamma, percent of gross gamma, with the sign of net GEX.'),
  atm_iv_30d: numberOrNull(
    'At-the-money volatility at 30 days, decimal per calendar year; null if no series determines a smile.',
  ),
  iv_rank: numberOrNull(
    'Position of atm_iv_30d between the lowest and the highest of a year, percent; null with fewer than 20 days of levels.',
  ),
  whipsaw_risk_index: Type.Optional(
    numberOrNull(
      'Whipsaw risk, 0 (calm) to 100. Present only if where or sort_by names it; null without usable quotes.',
    ),
  ),
  as_of: Type.Optional(momentField('When the quotes were taken, ISO 8601. The default answer of the tool lacks it.')),
  age_s: Type.Optional(
    integerField(
      'Age of the quotes, seconds; negative if they are dated in the future. Over REST only if where or sort_by names it.',
    ),
  ),
  stale: Type.Optional(
    Type.Literal(true, {
      description: 'Present if the quotes are older than the --stale-after setting, counted in trading hours.',
    }),
  ),
});

export type ScreenRow = Static<typeof screenRow>;

/** The column that a row has only on request, because for levels of earlier versions it needs a volatility surface for each ticker. */
export const WHIPSAW = 'whipsaw_risk_index';

/** Columns of numbers. Rows can be filtered and sorted by these columns. */
export const NUMBER_COLUMNS = [
  'flip_distance_pct',
  'net_gex_mil',
  'net_over_gross_pct',
  'atm_iv_30d',
  'iv_rank',
  WHIPSAW,
  'age_s',
] as const satisfies readonly (keyof ScreenRow)[];

/** Columns of words, with the allowed words of each column. */
const WORD_COLUMNS = {
  regime: ['positive_gamma', 'negative_gamma', 'undetermined'],
  spot_vs_flip: ['above', 'below'],
} as const satisfies { readonly [Column in keyof ScreenRow]?: readonly string[] };

/** A condition on one column. A row that has no value in the column does not meet the condition. */
export interface Condition {
  readonly column: keyof ScreenRow;
  isMetBy(row: ScreenRow): boolean;
  /** A note for the client, present if no value meets the condition, or if its bound probably has a wrong unit. */
  readonly note?: string;
}

const CONDITION = /^\s*([a-z0-9_]{1,40})\s*(<=|>=|==|=|<|>)\s*(\S{1,40})\s*$/;

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Parses the conditions of a request, such as `iv_rank>=80`. Throws `ClientError` with a list of the columns if a condition is invalid. */
export function conditionsOf(texts: readonly string[]): Condition[] {
  return texts.map((text, i) => conditionOf(text) ?? refuse(i));
}

function conditionOf(text: string): Condition | undefined {
  const [, name, operator, value] = CONDITION.exec(text) ?? [];
  const numeric = NUMBER_COLUMNS.find((column) => column === name);
  if (numeric) {
    const [holds, bound] = [COMPARISONS[operator!], Number(value)];
    if (!holds || !Number.isFinite(bound)) return undefined;
    const note = boundNote(numeric, bound, (each) => holds(each, bound));
    return {
      column: numeric,
      isMetBy: (row) => typeof row[numeric] === 'number' && holds(row[numeric], bound),
      ...(note && { note }),
    };
  }
  const words = Object.entries(WORD_COLUMNS).find(([column]) => column === name);
  if (!words || !operator!.startsWith('=')) return undefined;
  const [column, known] = words as [keyof typeof WORD_COLUMNS, readonly string[]];
  return known.includes(value!) ? { column, isMetBy: (row) => row[column] === value } : undefined;
}

/** The lowest and the highest value of the columns that have bounds. */
const RANGES: { readonly [Column in (typeof NUMBER_COLUMNS)[number]]?: readonly [number, number] } = {
  flip_distance_pct: [0, Number.POSITIVE_INFINITY],
  net_over_gross_pct: [-100, 100],
  atm_iv_30d: [0, Number.POSITIVE_INFINITY],
  iv_rank: [0, 100],
  [WHIPSAW]: [0, 100],
};

/** Returns a note if no value of the column meets a condition, or if the bound of the condition probably has a wrong unit. */
function boundNote(
  column: (typeof NUMBER_COLUMNS)[number],
  bound: number,
  isMetBy: (value: number) => boolean,
): string | undefined {
  if (column === 'atm_iv_30d' && bound > IV_NOTED) return `${column} is a decimal: ${bound} means ${100 * bound} %.`;
  const [lowest, highest] = RANGES[column] ?? [];
  if (lowest === undefined || highest === undefined) return undefined;
  if (!isMetBy(lowest) && !isMetBy(highest)) {
    return `No ticker can meet this condition on ${column}, which is ${highest === 100 ? `${lowest} to 100` : 'never negative'}.`;
  }
  const isFraction = highest === 100 && bound !== 0 && Math.abs(bound) < 1;
  return isFraction
    ? `${column} is ${lowest} to 100: ${bound} means ${bound}, not ${Number((100 * bound).toPrecision(3))}.`
    : undefined;
}

function refuse(i: number): never {
  const words = Object.entries(WORD_COLUMNS).map(([column, known]) => `${column}= ${known.join(' or ')}`);
  const expected = `must be a column, one of < <= > >=, and a number; or ${words.join('; or ')}`;
  const hint = `Columns of numbers: ${NUMBER_COLUMNS.join(', ')}. Example: iv_rank>=80.`;
  throw invalidArgument(`/where/${i}`, expected, hint);
}

export type SortColumn = 'ticker' | (typeof NUMBER_COLUMNS)[number];

/** The orders of rows. `size` sorts by the absolute value, the largest first. */
export const ORDERS = ['asc', 'desc', 'size'] as const;

/** Returns the rows sorted by a column. Rows without a value come last in every order. Rows with equal values are sorted by ticker. */
export function sortRows(rows: readonly ScreenRow[], column: SortColumn, order: (typeof ORDERS)[number]): ScreenRow[] {
  const sign = order === 'asc' ? 1 : -1;
  const byTicker = (a: ScreenRow, b: ScreenRow) => (a.ticker < b.ticker ? -1 : +(a.ticker > b.ticker));
  if (column === 'ticker') return rows.toSorted((a, b) => sign * byTicker(a, b));
  const figureOf = (row: ScreenRow) => {
    const figure = row[column] ?? null;
    return order === 'size' && figure !== null ? Math.abs(figure) : figure;
  };
  return rows.toSorted((a, b) => {
    const [x, y] = [figureOf(a), figureOf(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || byTicker(a, b);
    return sign * (x - y) || byTicker(a, b);
  });
}
