import { type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { objectOf } from './schemas.ts';

// Schemas that wrap another schema: a column with one value per row, and a value that may be null.

export const numberColumn = (description: string) => Type.Array(Type.Number(), { description });
export const textColumn = (description: string) => Type.Array(Type.String(), { description });
export const nullableColumn = (description: string) =>
  Type.Array(Type.Union([Type.Number(), Type.Null()]), { description });

export const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
export const numberOrNull = (description: string) => nullable(Type.Number(), description);
export const integerOrNull = (description: string) => nullable(Type.Integer(), description);
export const textOrNull = (description: string) => nullable(Type.String(), description);
export const objectOrNull = <Properties extends TProperties>(description: string, properties: Properties) =>
  nullable(objectOf(properties), description);
