import { Kind, type TProperties, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';
import { objectOf } from './schemas.ts';

// Schemas that wrap another schema: a column with one value per row, and a value that may be null.

export const numberColumn = (description: string) => Type.Array(Type.Number(), { description });

TypeRegistry.Set('Float64Column', (_, value) => value instanceof Float64Array && !hasNotFinite(value));

/** Returns the schema of a column that is computed as Float64Array and sent as an array of finite numbers. */
export const float64Column = (description: string) =>
  Type.Unsafe<Float64Array>({ ...numberColumn(description), [Kind]: 'Float64Column' });

function hasNotFinite(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return true;
  return false;
}

export const textColumn = (description: string) => Type.Array(Type.String(), { description });
export const nullableTextColumn = (description: string) =>
  Type.Array(Type.Union([Type.String(), Type.Null()]), { description });
export const nullableColumn = (description: string) =>
  Type.Array(Type.Union([Type.Number(), Type.Null()]), { description });

export const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
export const numberOrNull = (description: string) => nullable(Type.Number(), description);
export const integerOrNull = (description: string) => nullable(Type.Integer(), description);
export const textOrNull = (description: string) => nullable(Type.String(), description);
export const objectOrNull = <Properties extends TProperties>(description: string, properties: Properties) =>
  nullable(objectOf(properties), description);
