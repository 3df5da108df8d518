import { cleanText, plain } from '../page-format.ts';
import type { RequestProblem } from './request.ts';

/** The JSON schema of an argument or a figure of a tool. The type contains only the fields that the forms use. */
interface ToolSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** The JSON schema of a tool's arguments or of a tool's answer. */
export interface ToolObjectSchema {
  readonly properties?: Readonly<Record<string, ToolSchema>>;
  readonly required?: readonly string[];
}

interface Content<Schema> {
  readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example?: unknown } };
}

/** The operation of a tool in `/openapi.json`. The default answer is the first schema of `anyOf`. */
export interface ToolDescription {
  readonly summary: string;
  readonly description: string;
  readonly requestBody: Content<ToolObjectSchema>;
  readonly responses: { readonly 200: Content<ToolObjectSchema & { readonly anyOf?: readonly ToolObjectSchema[] }> };
}

/** The form field of one argument. */
export interface ToolField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'choice';
  /** The values of a choice. If the argument is optional, the first choice is the empty text. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** The initial content of the field, which is the default value of the schema. */
  readonly initial: string;
  /** The argument's value in the example of the tool. An empty field shows this value as a placeholder. */
  readonly example: string;
  /** The meaning of the argument, with its unit. */
  readonly help: string;
  /** A text with the bounds of the argument, and whether the argument is optional. */
  readonly rule: string;
}

/** Returns the fields of a tool's form, required arguments first. All texts come from the server and are cleaned. */
export function toolFields({ requestBody }: ToolDescription): ToolField[] {
  const { schema, example } = requestBody.content['application/json'];
  const examples = (example ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(schema.properties ?? {})
    .map(([name, each]): ToolField => {
      const isRequired = schema.required?.includes(name) ?? false;
      const values = each.enum?.map(textOf) ?? (each.type === 'boolean' ? ['true', 'false'] : []);
      const isNumber = each.type === 'integer' || each.type === 'number';
      return {
        name,
        label: labelOf(name),
        kind: values.length > 0 ? 'choice' : isNumber ? 'number' : 'text',
        choices: values.length === 0 || isRequired ? values : ['', ...values],
        isRequired,
        initial: textOf(each.default),
        example: textOf(examples[name]),
        help: cleanText(each.description),
        rule: ruleOf(each, isRequired),
      };
    })
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Returns a name of the registry as words: `win_prob` becomes `win prob`. */
export function labelOf(name: string): string {
  return cleanText(name).replaceAll('_', ' ');
}

function ruleOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: ToolSchema, isRequired: boolean): string {
  const [least, most] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum];
  const from = least === undefined ? '' : `${minimum === undefined ? 'above ' : ''}${plain(least)}`;
  const to = most === undefined ? '' : `${maximum === undefined ? 'below' : 'to'} ${plain(most)}`;
  return [`${from} ${to}`.trim(), isRequired ? '' : 'optional'].filter(Boolean).join(', ');
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : cleanText(value);
}

/**
 * Converts the texts of a form's fields to arguments. An empty field is left out. If the text of a numeric field is not a number, the text
 * is sent unchanged, so that the server's error message explains what is wrong. A text in brackets is a list of numbers: `[-2, -1, 1, 2]`.
 */
export function argumentsOf(fields: readonly ToolField[], texts: Readonly<Record<string, string>>) {
  const args: Record<string, string | number | boolean | number[]> = {};
  for (const { name, kind, choices } of fields) {
    const text = (texts[name] ?? '').trim();
    if (text === '') continue;
    const number = Number(text.replace('−', '-'));
    if (choices.includes('true')) args[name] = text === 'true';
    else if (kind === 'number' && Number.isFinite(number)) args[name] = number;
    else args[name] = /^\[[-\d., ]*\]$/.test(text) ? text.slice(1, -1).split(',').map(Number) : text;
  }
  return args;
}

/**
 * Returns the error messages of a problem by the name of the field: those of the fields that the server lists, or else the whole message for
 * the field whose text the message quotes first. Empty if no field is to blame.
 */
export function problemsByField(
  { body, message, hint }: RequestProblem,
  fields: readonly ToolField[],
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const listed = (Array.isArray(body.errors) ? body.errors : []) as { pointer?: unknown; detail?: unknown }[];
  const known = listed
    .map(({ pointer, detail }) => [cleanText(pointer).split('/')[1], sentence(cleanText(detail, 600))] as const)
    .filter(([name]) => fields.some((field) => field.name === name));
  if (listed.length > 0) return Object.fromEntries(known);
  const [quoted] = fields
    .map(({ name }) => ({ name, at: texts[name] ? message.indexOf(texts[name].trim()) : -1 }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  return quoted ? { [quoted.name]: `${message}. ${hint}`.trim() } : {};
}

function sentence(words: string): string {
  // The function removes the regular expression from a message, because the words after it have the same meaning.
  const text = words.replace(/must match \S+: (.)/, (_, first: string) => `must be: ${first.toLowerCase()}`);
  return `${text.replace(/^./, (first) => first.toUpperCase())}${text.endsWith('.') ? '' : '.'}`;
}
