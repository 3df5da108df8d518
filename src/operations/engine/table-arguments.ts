import type { TObject, TSchema } from '@sinclair/typebox';
import { ClientError, type ClientErrorCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import { latin1In } from '../../core/memoize-bytes.ts';
import { readNumbers } from '../../math/decimals.ts';
import { COLUMN_ROWS_MAX, firstOutside, SIDE } from './column-arguments.ts';
import { EQUAL_LENGTHS, validate } from './validate.ts';

/** The valid arguments of a table. Columns are Float64Array. In the column of calls and puts, a call is 1 and a put is -1. */
export class TableArguments {
  constructor(readonly fields: Readonly<Record<string, unknown>>) {}
}

/** Maximum number of bytes of a table beside its arrays. */
const FRAME_BYTES_MAX = 1_024;

/** Reads the JSON of a table (see `table`) without a value per cell; undefined for invalid or unusual JSON, which the caller must parse. */
export function readTableArguments(schema: TObject, bytes: Uint8Array): TableArguments | undefined {
  // The frame is the text with a numbered object in place of each array. The table must not have another object.
  const arrays: { readonly from: number; readonly to: number }[] = [];
  let frame = '';
  let end = 0;
  for (let from = bytes.indexOf(OPENING); from >= 0; from = bytes.indexOf(OPENING, end)) {
    const to = bytes.indexOf(CLOSING, from);
    if (to < 0 || frame.length + from - end > FRAME_BYTES_MAX) return undefined;
    frame += `${latin1In(bytes, end, from)}{"array":${arrays.length}}`;
    arrays.push({ from: from + 1, to });
    end = to + 1;
  }
  if (frame.length + bytes.length - end > FRAME_BYTES_MAX) return undefined;
  frame += latin1In(bytes, end, bytes.length);
  if (frame.split('{').length !== arrays.length + 2) return undefined;
  try {
    const given = JSON.parse(frame) as Record<string, unknown>;
    const columns: Record<string, Float64Array> = {};
    for (const [name, value] of Object.entries(given)) {
      if (typeof value !== 'object' || value === null) continue;
      const { from, to } = arrays[(value as { array: number }).array]!;
      const column = columnOf(schema.properties[name]?.anyOf?.[0], bytes, from, to);
      if (!column) return undefined;
      columns[name] = column;
      // The other rows have been checked like the first.
      given[name] = schema.properties[name]!.anyOf[0].enum ? 'C' : column[0];
    }
    const lengths = new Set(Object.values(columns).map(({ length }) => length));
    // If a field is given twice, an array is without a column.
    if (Object.keys(columns).length !== arrays.length || lengths.size > 1) return undefined;
    return new TableArguments({ ...validate(schema, given, 'invalid_body'), ...columns });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ClientError) return undefined;
    throw error;
  }
}

/**
 * Returns the arguments of a table whose rows may be invalid (`on_error` is `row`), with NaN in place of invalid values of arrays. Returns
 * undefined for other arguments. Throws `ClientError` with the given code for other faults, such as arrays of different lengths.
 */
export function readRowwise(schema: TObject, args: unknown, code: ClientErrorCode): TableArguments | undefined {
  if (!schema[EQUAL_LENGTHS] || !isRecord(args) || args.on_error !== 'row') return undefined;
  const columns: Record<string, Float64Array> = {};
  const samples: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(args)) {
    const scalar: TSchema | undefined = schema.properties[name]?.anyOf?.[0];
    if (!scalar || !Array.isArray(values) || values.length > COLUMN_ROWS_MAX) continue;
    const read = scalar.enum ? sideOf : numberOr(scalar);
    const column = new Float64Array(values.length);
    for (let row = 0; row < column.length; row++) column[row] = read(values[row]);
    columns[name] = column;
    samples[name] = scalar.enum?.[0] ?? Math.max(0, scalar.minimum);
  }
  // Only arrays of different lengths are checked as a whole. The others would take ten times as long as their conversion.
  const areEqual = new Set(Object.values(columns).map(({ length }) => length)).size < 2;
  const valid = Object.entries(columns).map(([name, { length }]) => [
    name,
    Array(areEqual ? 1 : length).fill(samples[name]),
  ]);
  const frame = { ...args, ...Object.fromEntries(valid) };
  return new TableArguments({ ...validate(schema, frame, code), ...columns });
}

const sideOf = (side: unknown) => (side === 'C' ? 1 : side === 'P' ? -1 : Number.NaN);
/** Returns a function that returns a valid number as it is, and NaN for any other value. */
const numberOr =
  ({ minimum, maximum }: TSchema) =>
  (value: unknown) =>
    typeof value === 'number' && value >= minimum && value <= maximum ? value : Number.NaN;

/** Reads a column of valid values. `scalar` is the schema of a value. It is undefined if the field has no columns. */
function columnOf(scalar: TSchema | undefined, bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  const isSide = scalar?.enum !== undefined;
  const column = isSide ? sidesIn(bytes, from, to) : readNumbers(bytes, from, to);
  if (!scalar || !column || column.length > COLUMN_ROWS_MAX) return undefined;
  return firstOutside(column, isSide ? SIDE : scalar) < 0 ? column : undefined;
}

/** Reads the strings `C` and `P`, separated by commas, in the bytes [from, to). Returns undefined for anything else. */
function sidesIn(bytes: Uint8Array, from: number, to: number): Float64Array | undefined {
  const sides = new Float64Array(Math.ceil((to - from) / '"C",'.length));
  let count = 0;
  for (let at = from; ; at++) {
    while (SPACES[bytes[at]!]) at++;
    const side = bytes[at + 1];
    if (bytes[at] !== QUOTE || (side !== CALL && side !== PUT) || bytes[at + 2] !== QUOTE) return undefined;
    sides[count++] = side === CALL ? 1 : -1;
    at += 3;
    while (SPACES[bytes[at]!]) at++;
    if (at === to) return sides.slice(0, count);
    if (bytes[at] !== COMMA) return undefined;
  }
}

const [QUOTE, COMMA, OPENING, CLOSING, CALL, PUT] = [0x22, 0x2c, 0x5b, 0x5d, 0x43, 0x50];
const SPACES = Uint8Array.from({ length: 256 }, (_, byte) => (' \n\r\t'.includes(String.fromCharCode(byte)) ? 1 : 0));
