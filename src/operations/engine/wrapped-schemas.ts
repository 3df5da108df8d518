import { Kind, type TProperties, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { count, type Documented, documented, namedObject, objectOf } from './schemas.ts';

// Schemas that wrap another schema: a column with one value per row, a list, and a value that may be null.

/** The key of a schema that marks it as a column. Its value is the name of the table, empty for the table of the object. JSON omits it. */
export const COLUMN = Symbol('column');
/** The key of a schema that marks it as a list of lists with one value per pair of rows. Its value is a `Cross`. JSON omits it. */
export const CROSS = Symbol('cross');

/** The key of a schema that marks it as the number of rows of which the answer has some. JSON omits it. */
export const TOTAL = Symbol('total');
/** Returns the schema of the number of rows of which the answer has some. */
export const totalCount = (description: string) => ({ ...count(description), [TOTAL]: true });

/** The columns of the outer and of the inner lists, as keys of the same object, and the name of the value in a table. */
export interface Cross {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
  readonly value: string;
}

/** Returns the schema of a column, which has one value per row of a table. All columns of a table have the same length. */
export const columnOf = <Item extends TSchema>(items: Item, description: string, table = '') =>
  Type.Array(items, { description, ...({ [COLUMN]: table } as object) });

const numberOrNothing = Type.Union([Type.Number(), Type.Null()]);

/** Returns the schema of a matrix: for each row of the outer columns a list with a value for each row of the inner columns. */
export const crossOf = (description: string, cross: Cross) =>
  Type.Array(Type.Array(numberOrNothing), { description, ...({ [CROSS]: cross } as object) });

export const numberColumn = (description: string, table?: string) => columnOf(Type.Number(), description, table);

TypeRegistry.Set('Float64OrNullColumn', (_, value) => value instanceof Float64Array && !hasInfinite(value));

/** Returns the schema of a column that is computed as Float64Array and sent as an array of numbers, with null in place of NaN. */
export const float64OrNullColumn = (description: string) =>
  Type.Unsafe<Float64Array>({ ...nullableColumn(description), [Kind]: 'Float64OrNullColumn' });

function hasInfinite(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (Math.abs(values[i]!) === Number.POSITIVE_INFINITY) return true;
  return false;
}

export const textColumn = (description: string, table?: string) => columnOf(Type.String(), description, table);
const text = (keywords: Documented) => documented(Type.String(), keywords);
const date = text({ format: 'date' });
const instant = text({ format: 'date-time' });

/** The schema of a column of dates, YYYY-MM-DD. */
export const dateColumn = (description: string, table?: string) => columnOf(date, description, table);
/** The schema of a column of instants in ISO 8601, with the time zone. */
export const momentColumn = (description: string) => columnOf(instant, description);
/** The schema of a column of words. The answer is not checked against the words. */
export const wordColumn = (words: readonly string[], description: string, name?: string, table?: string) =>
  columnOf(text({ enum: words, ...(name && { name }) }), description, table);
/** The schema of a column of words of which some are null. The answer is not checked against the words. */
export const nullableWordColumn = (words: readonly string[], description: string) =>
  columnOf(Type.Union([text({ enum: words }), Type.Null()]), description);
export const nullableTextColumn = (description: string) =>
  columnOf(Type.Union([Type.String(), Type.Null()]), description);
export const nullableMomentColumn = (description: string) => columnOf(Type.Union([instant, Type.Null()]), description);
export const nullableColumn = (description: string, table?: string) => columnOf(numberOrNothing, description, table);

/** Returns the schema of a list that is not a column, such as notes: its length is not the number of rows of a table. */
export const textList = (description: string) => Type.Array(Type.String(), { description });
export const numberList = (description: string) => Type.Array(Type.Number(), { description });

export const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
export const numberOrNull = (description: string) => nullable(Type.Number(), description);
export const integerOrNull = (description: string) => nullable(Type.Integer(), description);
export const textOrNull = (description: string) => nullable(Type.String(), description);
export const dateOrNull = (description: string) => nullable(date, description);
export const momentOrNull = (description: string) => nullable(instant, description);
export const objectOrNull = <Properties extends TProperties>(description: string, properties: Properties) =>
  nullable(objectOf(properties), description);
/** `objectOrNull` for an object with a name among the components of the OpenAPI document. */
export const namedOrNull = <Properties extends TProperties>(
  name: string,
  description: string,
  properties: Properties,
) => nullable(namedObject(name, undefined, properties), description);
