import { Kind, type TProperties, type TSchema, Type, TypeRegistry } from '@sinclair/typebox';

export const number = (description: string, options: Record<string, unknown> = {}) =>
  Type.Number({ description, ...options });

/** Returns the schema of an optional field. In TypeScript the field is not optional, because `validate` fills in the default. */
export const defaulted = <Schema extends TSchema>(schema: Schema, value: Schema['static']): Schema =>
  Type.Optional({ ...schema, default: value }) as unknown as Schema;

export const count = (description: string) => Type.Integer({ description, minimum: 0 });
export const integerField = (description: string) => Type.Integer({ description });
export const integerIn = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ description, minimum, maximum });
export const textField = (description: string) => Type.String({ description });
export const flagField = (description: string) => Type.Boolean({ description });

/** Returns the schema of an object that has the given fields and no other fields. */
export const objectOf = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
export const describedObject = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, description });
export const objectList = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Array(objectOf(properties), { description });

/** JSON Schema's `enum`, which TypeBox does not define. An `enum` takes fewer tokens of a model's context than a union of constants. */
TypeRegistry.Set<{ enum: unknown[] }>('StringEnum', (schema, value) => schema.enum.includes(value));

export const oneOf = <const Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>({ [Kind]: 'StringEnum', type: 'string', enum: [...values], description });

export const date = (description: string) => Type.String({ description, pattern: '^\\d{4}-[01]\\d-[0-3]\\d$' });

/** Returns a finite number unchanged. Returns null for any other number, because JSON has no infinity and no NaN. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
