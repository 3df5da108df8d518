import type { TObject, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { Errors, type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { memoizeByObject } from '../../core/cache.ts';
import { ClientError, type ClientErrorCode, type FieldError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import { similarName } from '../../core/nearest-names.ts';

/** A custom schema keyword. If the keyword is true, all array fields of the object must have the same length. */
export const EQUAL_LENGTHS = 'x-equal-lengths';

/** Maximum number of field errors in an answer. With NAME_MAX, the maximum bounds the size of the answer to a hostile request. */
const FIELD_ERRORS_MAX = 10;
/** Maximum length of an unknown field's name in an error, characters. */
const NAME_MAX = 40;

/**
 * Returns a value with the defaults of absent fields. Throws `ClientError` with the given code that names each invalid field and its
 * condition, never a value, and unknown fields by their first NAME_MAX characters.
 */
export function validate(schema: TObject, value: unknown, code: ClientErrorCode): Record<string, unknown> {
  const candidate = isRecord(value) ? withDefaults(defaultsOf(schema), value) : value;
  const isValid = matches(schema, candidate);
  if (isValid && !schema[EQUAL_LENGTHS]) return candidate as Record<string, unknown>;
  const fieldErrors = isValid
    ? lengthErrors(schema, candidate as Record<string, unknown>)
    : fieldErrorsOf(schema, candidate);
  if (fieldErrors.length === 0) return candidate as Record<string, unknown>;
  throw invalidFields(code, fieldErrors, hintOf(schema, isRecord(candidate) ? candidate : {}));
}

/**
 * Returns the error for names that a request has, but that are not known. Returns `undefined` if all names are known. The hint is the name
 * that was probably meant, or else the list of known names.
 */
export function unknownFields(
  code: ClientErrorCode,
  names: Iterable<string>,
  known: readonly string[],
  otherwise = 'This route takes no query parameters.',
): ClientError | undefined {
  const unknown = [...names].filter((name) => !known.includes(name)).slice(0, FIELD_ERRORS_MAX);
  if (unknown.length === 0) return undefined;
  const fieldErrors = unknown.map((name) => ({ field: shownField(name), expected: NOT_A_FIELD }));
  const list = known.length > 0 ? `Parameters: ${known.join(', ')}.` : otherwise;
  return invalidFields(code, fieldErrors, meantBy(unknown, known) ?? list);
}

function invalidFields(code: ClientErrorCode, fieldErrors: readonly FieldError[], hint: string | undefined) {
  const message = fieldErrors.map((each) => `${each.field || 'The input'} ${each.expected}`).join('; ');
  return new ClientError(code, message, { fieldErrors, hint });
}

/** Returns the hint for invalid arguments. An error that concerns only values needs no hint, because it states their conditions. */
function hintOf(schema: TObject, value: Record<string, unknown>): string | undefined {
  const known = Object.keys(schema.properties);
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  const isMissing = schema.required?.some((name) => value[name] === undefined);
  if (unknown.length === 0 && !isMissing) return undefined;
  const meant = meantBy(unknown, known);
  if (meant) return meant;
  return `Fields: ${known.map((key) => (schema.required?.includes(key) ? key : `${key} (optional)`)).join(', ')}.`;
}

/** Returns a question for the known names that unknown names probably stand for. Returns `undefined` if there are none. */
function meantBy(unknown: readonly string[], known: readonly string[]): string | undefined {
  const meant = new Set(unknown.slice(0, FIELD_ERRORS_MAX).flatMap((name) => similarName(name, known) ?? []));
  return meant.size > 0 ? `Did you mean ${[...meant].join(', ')}?` : undefined;
}

const NOT_A_FIELD = 'is not a field of this request';

/** Returns the pointer of an unknown field. The name comes from the caller, so the pointer has only its first characters. */
function shownField(name: string): string {
  return `/${escaped([...name].slice(0, NAME_MAX).join(''))}`;
}

/** Returns whether a value matches the schema. The service checks every answer with this function before it sends the answer. */
export function satisfies(schema: TObject, value: unknown): boolean {
  return compiled(schema).Check(value);
}

const compiled = memoizeByObject((schema: TObject) => TypeCompiler.Compile(schema));
/** The schemas that have been checked once. A check without compiling takes longer, but compiling takes 6 ms in a new process. */
const checked = new WeakSet<TObject>();

/** Returns whether the fields of a request match the schema. The schema is compiled for its second request, or for an array. */
function matches(schema: TObject, value: unknown): boolean {
  if (checked.has(schema) || Object.values(value ?? {}).some((each) => typeof each === 'object'))
    return compiled(schema).Check(value);
  checked.add(schema);
  return Errors(schema, [], value).First() === undefined;
}

/** Returns the default values of optional fields. */
const defaultsOf = memoizeByObject((schema: TObject) =>
  Object.entries(schema.properties).flatMap(([field, { default: value }]) =>
    value === undefined ? [] : [[field, value] as const],
  ),
);

function withDefaults(
  defaults: ReturnType<typeof defaultsOf>,
  value: Record<string, unknown>,
): Record<string, unknown> {
  const filled = { ...value };
  for (const [field, each] of defaults) if (filled[field] === undefined) filled[field] = each;
  return filled;
}

function fieldErrorsOf(schema: TObject, value: unknown): FieldError[] {
  const fieldErrors = new Map<string, FieldError>();
  for (const error of withinColumns(Errors(schema, [], value))) {
    if (fieldErrors.has(error.path)) continue;
    const [key = ''] = error.path.slice(1).split('/');
    const isKnown = error.path === '' || Object.hasOwn(schema.properties, unescaped(key));
    const field = isKnown ? error.path : shownField(unescaped(key));
    fieldErrors.set(error.path, { field, expected: isKnown ? expected(error) : NOT_A_FIELD });
    if (fieldErrors.size >= FIELD_ERRORS_MAX) break;
  }
  return [...fieldErrors.values()];
}

function expected({ type, schema }: ValueError): string {
  const rule = expectation(schema);
  return type === ValueErrorType.ObjectRequiredProperty ? `is missing, and ${rule}` : rule;
}

/** If a column is an array, replaces the error "neither a value nor an array of values" with the errors of the array and its items. */
function* withinColumns(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const variant = Array.isArray(error.value) ? arrayVariant(error.schema) : -1;
    if (variant < 0) yield error;
    else {
      for (const inner of error.errors[variant]!) {
        yield inner;
        // If the array itself has an error, for example because it is too long, the errors of its items are left out.
        if (inner.path === error.path) break;
      }
    }
  }
}

function arrayVariant(schema: TSchema): number {
  return schema.anyOf?.findIndex((each: TSchema) => each.type === 'array') ?? -1;
}

/** Returns an error for each column of a table that is not as long as the first column. */
function lengthErrors(schema: TObject, value: Record<string, unknown>): FieldError[] {
  const columns = Object.keys(schema.properties).flatMap((key) => {
    const column = value[key];
    return Array.isArray(column) ? [{ key, length: column.length }] : [];
  });
  const [first] = columns;
  return columns
    .filter(({ length }) => length !== first!.length)
    .map(({ key, length }) => ({
      field: `/${key}`,
      expected: `must have as many items as /${first!.key}: ${first!.length}, not ${length}`,
    }));
}

/** Returns a key as a reference token of a JSON Pointer (RFC 6901). */
function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the key of a reference token. Reverses `escaped`. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns the condition of a schema as text, such as `must be a finite number, at least 0 and at most 1`. */
export function expectation(schema: TSchema): string {
  if (schema.enum) return `must be one of ${schema.enum.map((each: unknown) => JSON.stringify(each)).join(', ')}`;
  if (arrayVariant(schema) >= 0) return `${expectation(schema.anyOf[0])}; or an array of those`;
  if (schema.anyOf) {
    return `must be one of ${schema.anyOf.map((each: TSchema) => JSON.stringify(each.const ?? each.type)).join(', ')}`;
  }
  switch (schema.type) {
    case 'number':
    case 'integer':
      return `must be ${schema.type === 'integer' ? 'an integer' : 'a finite number'}${bounds(schema)}`;
    case 'string': {
      const rule = schema.pattern ? `match ${schema.pattern}` : `be a string${lengths(schema)}`;
      const meant = (schema.pattern || schema.maxLength) && schema.description;
      return `must ${rule}${meant ? `: ${meant.replace(/\.$/, '')}` : ''}`;
    }
    case 'object':
      return 'must be a JSON object';
    case 'array':
      return `must be an array${itemCounts(schema)}`;
    default:
      return `must be of type ${schema.type}`;
  }
}

function itemCounts({ minItems, maxItems }: TSchema): string {
  if (!maxItems) return '';
  return minItems ? ` of ${minItems} to ${maxItems} items` : ` of at most ${maxItems} items`;
}

function lengths({ minLength, maxLength }: TSchema): string {
  return maxLength === undefined ? '' : ` of ${minLength ?? 0} to ${maxLength} characters`;
}

function bounds(schema: TSchema): string {
  const limits: string[] = [];
  if (schema.exclusiveMinimum !== undefined) limits.push(`above ${schema.exclusiveMinimum}`);
  if (schema.minimum !== undefined) limits.push(`at least ${schema.minimum}`);
  if (schema.maximum !== undefined) limits.push(`at most ${schema.maximum}`);
  return limits.length > 0 ? `, ${limits.join(' and ')}` : '';
}
