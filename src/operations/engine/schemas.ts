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

/**
 * Keywords of a schema that only the OpenAPI document has. JSON leaves out a symbol, so the keywords take no tokens of a model's context, and
 * validators do not read them. A test compares answers with the document.
 */
export const DOCUMENTED = Symbol('documented');

export interface Documented {
  /** The name of the schema among the components of the document. Every object schema that occurs several times needs a name. */
  readonly name?: string;
  readonly format?: 'date' | 'date-time';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly anyOf?: readonly Omit<Documented, 'name'>[];
}

/** Returns the schema with keywords for the OpenAPI document, in addition to those that it has. */
export const documented = <Schema extends object>(schema: Schema, keywords: Documented): Schema => ({
  ...schema,
  [DOCUMENTED]: { ...(schema as { [DOCUMENTED]?: Documented })[DOCUMENTED], ...keywords },
});

/** Returns the schema of an object with a name among the components of the OpenAPI document. */
export const namedObject = <Properties extends TProperties>(
  name: string,
  description: string | undefined,
  properties: Properties,
) => documented(description === undefined ? objectOf(properties) : describedObject(description, properties), { name });
export const namedList = <Properties extends TProperties>(name: string, description: string, properties: Properties) =>
  Type.Array(namedObject(name, undefined, properties), { description });

/** Returns the schema of a text of an answer that is a date, YYYY-MM-DD. */
export const dateField = (description: string) => documented(textField(description), { format: 'date' });
/** Returns the schema of a text of an answer that is an instant in ISO 8601, with the time zone. */
export const momentField = (description: string) => documented(textField(description), { format: 'date-time' });
/** Returns the schema of a text of an answer that is one of some words. The answer is not checked against the words. */
export const wordField = <const Word extends string>(words: readonly Word[], description: string, name?: string) =>
  documented(Type.Unsafe<Word>(textField(description)), { enum: words, ...(name && { name }) });

/** Returns the schema of an argument that is a date. The pattern rejects any other text. */
export const date = (description: string) =>
  documented(Type.String({ description, pattern: '^\\d{4}-[01]\\d-[0-3]\\d$' }), { format: 'date' });

/** Returns a finite number unchanged. Returns null for any other number, because JSON has no infinity and no NaN. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
