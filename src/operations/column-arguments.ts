import { type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { ClientError } from '../errors.ts';
import type { Column } from '../math/kernels.ts';
import type { Steps } from '../steps.ts';
import { JSON_ROWS, rowsPrice } from './prices.ts';
import { EQUAL_LENGTHS, expectation } from './validate.ts';

/** Most rows of one request: a full index chain, which takes about 30 ms in total. Clients split more rows into several requests. */
export const COLUMN_ROWS_MAX = 20_000;

/** Rows that are computed in one step, which takes 2 or 3 ms. Other requests have their turn between two steps. */
const STEP_ROWS = 4_096;

/** Calls `compute` for all rows, at once if there are few rows, else in steps, then returns `result()`. `to` is exclusive. */
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
    const tokens = from === 0 ? rowsPrice(count, JSON_ROWS) : 0;
    yield { message: `Rows ${from + 1} to ${to}`, total, tokens };
    compute(from, to);
  }
  return result();
}

/** Fits ROWS_MAX rows of the longest form: six doubles as JSON (24 characters and a comma each) and a side, 154 bytes per row. */
export const COLUMNS_BYTES_MAX = 4 * 1024 * 1024;

/** A field of a table: an array with one value per row, or one value for all rows. Unit and bounds are those of `scalar`. */
export const column = <Schema extends TSchema>(scalar: Schema) =>
  Type.Union([scalar, Type.Array(scalar, { maxItems: COLUMN_ROWS_MAX })], {
    description: `${scalar.description} One value for all rows, or an array with one value per row.`,
  });

/** An object with columns and fields that hold for all rows. `validate` rejects arrays of different lengths. */
export const table = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, [EQUAL_LENGTHS]: true });

/** A column of an answer. */
export const answerColumn = <Schema extends TSchema>(cell: Schema, description: string) =>
  Type.Array(cell, { description });

/** Number of rows of a table: the length of its arrays, or 1 if no field is an array. */
export function rowCount(input: Readonly<Record<string, unknown>>): number {
  return Object.values(input).find(Array.isArray)?.length ?? 1;
}

/** Rows [from, to) of a column of numbers, as the kernels take them. */
export function numbers(given: number | readonly number[], from: number, to: number): Column {
  return typeof given === 'number' ? given : new Float64Array(given.slice(from, to));
}

/** Rows [from, to) of a column of sides, as the kernels take them: +1 for a call, -1 for a put. */
export function sides(given: Side | readonly Side[], from: number, to: number): Column {
  return typeof given === 'string' ? sign(given) : Float64Array.from(given.slice(from, to), sign);
}

type Side = 'C' | 'P';

function sign(side: Side): number {
  return side === 'C' ? 1 : -1;
}

/** A side as a number, for binary bodies. */
export const SIDE = Type.Union([Type.Literal(1), Type.Literal(-1)], { description: '1 for a call, -1 for a put.' });

/**
 * Columns of float64, little-endian, one after the other in a body. Returns views of the body. Throws `ClientError` (422) if the length does
 * not fit the columns, if there are too many rows, or if a value is out of bounds. The error names the column and row of the first such
 * value.
 */
export function binaryColumns<Name extends string>(body: ArrayBuffer, schemas: Readonly<Record<Name, TSchema>>) {
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
    const row = firstOutside(values, schemas[name]);
    if (row >= 0) {
      const fieldError = { field: `/${name}/${row}`, expected: expectation(schemas[name]) };
      throw new ClientError('invalid_body', `${fieldError.field} ${fieldError.expected}`, {
        fieldErrors: [fieldError],
      });
    }
    columns[name] = values;
  }
  return { count, columns };
}

/** Row of the first value that is not finite or is out of bounds, or of a side that is not 1 or -1. Returns -1 if all values are valid. */
function firstOutside(values: Float64Array, { minimum, maximum, anyOf }: TSchema): number {
  // A loop, because one callback per value would take longer than all other work on the column.
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (anyOf ? value !== 1 && value !== -1 : !(value >= minimum && value <= maximum)) return row;
  }
  return -1;
}
