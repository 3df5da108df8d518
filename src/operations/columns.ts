import { type TProperties, type TSchema, Type } from '@sinclair/typebox';
import type { Column } from '../math/kernels.ts';

/**
 * Rows of one request: a whole index chain's worth. Reading, computing and writing them keeps the process from other callers
 * for some 30 ms, the most that those should ever wait; more rows are more requests.
 */
export const ROWS_MAX = 20_000;

/** ROWS_MAX of the longest rows fit: six doubles as JSON (24 characters and a comma each) and a side, 154 bytes. */
export const COLUMNS_BYTES_MAX = 4 * 1024 * 1024;

/** A field of a table: an array with a value for each row, or one value for all rows. Unit and bounds are the scalar's. */
export const column = <Schema extends TSchema>(scalar: Schema) =>
  Type.Union([scalar, Type.Array(scalar, { maxItems: ROWS_MAX })], {
    description: `${scalar.description} One for all rows, or an array with one for each row.`,
  });

/** Columns and what goes for all of them; `validate` refuses arrays of different lengths. */
export const table = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, [EQUAL_LENGTHS]: true });

/** Keyword of a schema whose array fields are all of one length. */
export const EQUAL_LENGTHS = 'x-equal-lengths';

/** A column of an answer. */
export const answerColumn = <Schema extends TSchema>(cell: Schema, description: string) =>
  Type.Array(cell, { description });

/** Rows of a table: the length of its arrays; 1 where every field is one for all rows. */
export function rowCount(input: Readonly<Record<string, unknown>>): number {
  return Object.values(input).find(Array.isArray)?.length ?? 1;
}

/** A column of numbers as kernels take it. */
export function numbers(given: number | readonly number[]): Column {
  return typeof given === 'number' ? given : Float64Array.from(given);
}

/** A column of sides as kernels take it: +1 for a call, -1 for a put. */
export function sides(given: Side | readonly Side[]): Column {
  return typeof given === 'string' ? sign(given) : Float64Array.from(given, sign);
}

type Side = 'C' | 'P';

function sign(side: Side): number {
  return side === 'C' ? 1 : -1;
}
