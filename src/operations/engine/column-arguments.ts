import { type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { ClientError, invalidField } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import type { Column } from '../../math/kernels.ts';
import { JSON_ROWS, rowsCost } from './request-cost.ts';
import { defaulted, oneOf } from './schemas.ts';
import { dividendYield, rate, spot, strike, tteFromZero } from './shared-fields.ts';
import { EQUAL_LENGTHS, expectation } from './validate.ts';

/** Maximum number of rows in one request, enough for a full index chain. So many rows take about 30 ms. */
export const COLUMN_ROWS_MAX = 20_000;

/** Number of rows that one step of 2 or 3 ms computes. */
const STEP_ROWS = 4_096;

/** Calls `compute` with a first row and the row after the last: once for at most JSON_ROWS rows, else per step. Returns `result()`. */
export function byRows<Result>(
  count: number,
  compute: (from: number, to: number) => void,
  result: () => Result,
): Result | Steps<Result> {
  if (count > JSON_ROWS) return rowSteps(count, compute, result);
  compute(0, count);
  return result();
}

function* rowSteps<Result>(
  count: number,
  compute: (from: number, to: number) => void,
  result: () => Result,
): Steps<Result> {
  const total = Math.ceil(count / STEP_ROWS);
  for (let from = 0; from < count; from += STEP_ROWS) {
    const to = Math.min(count, from + STEP_ROWS);
    const tokens = from === 0 ? rowsCost(count, JSON_ROWS) : 0;
    yield { message: `Rows ${from + 1} to ${to}`, total, tokens };
    compute(from, to);
  }
  return result();
}

/** Maximum size of a table's body, bytes. COLUMN_ROWS_MAX rows fit, because a row takes at most 154 bytes of JSON. */
export const COLUMNS_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the schema of a table's field: an array with one value per row, or one value for all rows. `scalar` is a value's schema. */
export const column = <Schema extends TSchema>(scalar: Schema) =>
  Type.Union([scalar, Type.Array(scalar, { maxItems: COLUMN_ROWS_MAX })], {
    description: `${scalar.description} One value for all rows, or an array with one value per row.`,
  });

/** Returns the schema of a table, whose fields are columns or one value for all rows. `validate` rejects unequal columns. */
export const table = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, [EQUAL_LENGTHS]: true });

/** Returns the number of rows of a table, which is the length of its arrays. A table without arrays has 1 row. */
export function rowCount(input: Readonly<Record<string, unknown>>): number {
  const isColumn = (each: unknown) => Array.isArray(each) || each instanceof Float64Array;
  return (Object.values(input).find(isColumn) as ArrayLike<unknown> | undefined)?.length ?? 1;
}

/** Returns the rows `from` (included) to `to` (excluded) of `given`, as an input column of a kernel. */
export function numbers(given: Numbers, from: number, to: number): Column {
  if (given instanceof Float64Array) return given.subarray(from, to);
  return typeof given === 'number' ? given : new Float64Array(given.slice(from, to));
}

/** Fields that every table of options has. */
export const contractColumns = { spot: column(spot), strike: column(strike), tte: column(tteFromZero) };
export const carryColumns = {
  rate: defaulted(column(rate), 0.04),
  dividend: defaulted(column(dividendYield), 0),
};

/** The argument for rows that are not valid. With `row`, the arrays of a table arrive as Float64Array, with NaN in place of invalid values. */
export const onError = defaulted(
  oneOf(
    ['reject', 'row'],
    'What a row with an invalid value does. reject: it refuses the request. row: its results are null, its status ' +
      'names the first invalid argument, and all other rows have their results.',
  ),
  'reject',
);

/** The statuses of rows whose arguments have an invalid value, in the order of the columns. */
export const invalidStatuses = <Name extends string>(schemas: Readonly<Record<Name, TSchema>>) =>
  (Object.keys(schemas) as Name[]).map((name) => `invalid_${name}` as const);

/** Returns for each row 0, or `first` plus the position of the first column whose value is not valid. Values for all rows are valid. */
export function faultsOf(
  count: number,
  columns: Readonly<Record<string, unknown>>,
  schemas: Readonly<Record<string, TSchema>>,
  first: number,
): Uint8Array {
  const faults = new Uint8Array(count);
  for (const [place, name] of Object.keys(schemas).entries()) {
    const values = columns[name];
    if (!(values instanceof Float64Array)) continue;
    for (
      let row = firstOutside(values, schemas[name]!);
      row >= 0;
      row = firstOutside(values, schemas[name]!, row + 1)
    ) {
      faults[row] ||= first + place;
    }
  }
  return faults;
}

/** A column of numbers as JSON.parse or as `readTableArguments` returns it, or one number for all rows. */
type Numbers = number | readonly number[] | Float64Array;

type OptionTable = Readonly<Record<'spot' | 'strike' | 'tte' | 'rate' | 'dividend', Numbers>> & {
  readonly put_call: Side | readonly Side[] | Float64Array;
};

/** Returns the rows `from` (included) to `to` (excluded) of a table of options, as inputs of a kernel. A call is +1, a put is -1. */
export function optionRows({ put_call, spot, strike, tte, rate, dividend }: OptionTable, from: number, to: number) {
  const rows = (given: Numbers) => numbers(given, from, to);
  return {
    count: to - from,
    callPut: typeof put_call === 'string' ? sign(put_call) : signs(put_call.slice(from, to)),
    ...{ spot: rows(spot), strike: rows(strike), tte: rows(tte), rate: rows(rate), dividend: rows(dividend) },
  };
}

type Side = 'C' | 'P';

function signs(sides: readonly Side[] | Float64Array): Float64Array {
  return sides instanceof Float64Array ? sides : Float64Array.from(sides, sign);
}

function sign(side: Side): number {
  return side === 'C' ? 1 : -1;
}

/** The schema of a binary body's column for calls and puts. */
export const SIDE = Type.Union([Type.Literal(1), Type.Literal(-1)], { description: '1 for a call, -1 for a put.' });

/**
 * Reads the columns of a binary body: float64, little-endian, in a row. The arrays share its memory. Throws `ClientError` (422) that names
 * the column and row of the first value out of bounds, unless `isRowwise`, or if the length does not fit the columns or there are too many
 * rows.
 */
export function binaryColumns<Name extends string>(
  body: ArrayBuffer,
  schemas: Readonly<Record<Name, TSchema>>,
  isRowwise: boolean,
) {
  const names = Object.keys(schemas) as Name[];
  const rowBytes = names.length * Float64Array.BYTES_PER_ELEMENT;
  const count = body.byteLength / rowBytes;
  if (!Number.isInteger(count) || count > COLUMN_ROWS_MAX) {
    throw new ClientError(
      'invalid_body',
      `${body.byteLength} bytes are not ${names.length} columns of up to ${COLUMN_ROWS_MAX} rows`,
      {
        hint: `Send the columns ${names.join(', ')} one after the other, with 8 bytes per row in each.`,
      },
    );
  }
  const columns = {} as Record<Name, Float64Array>;
  for (const [i, name] of names.entries()) {
    const values = new Float64Array(body, i * count * Float64Array.BYTES_PER_ELEMENT, count);
    const row = isRowwise ? -1 : firstOutside(values, schemas[name]);
    if (row >= 0) throw invalidField('invalid_body', `/${name}/${row}`, expectation(schemas[name]));
    columns[name] = values;
  }
  return { count, columns };
}

/**
 * Returns the row of the first value, from the row `from` on, that is not finite, is out of bounds, or is not a valid side. Returns -1 if
 * all values are valid.
 */
export function firstOutside(values: Float64Array, { minimum, maximum, anyOf }: TSchema, from = 0): number {
  // The code is a loop, because callbacks would take longer than all other work on the column.
  for (let row = from; row < values.length; row++) {
    const value = values[row]!;
    if (anyOf ? value !== 1 && value !== -1 : !(value >= minimum && value <= maximum)) return row;
  }
  return -1;
}
