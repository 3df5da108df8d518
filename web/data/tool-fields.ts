import { cleanText } from '../page-format.ts';

/** The JSON schema of an argument or a figure of a tool. The type contains only the fields that the forms use. */
export interface ToolSchema {
  readonly type?: string | readonly string[];
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

/** A tool in the format of `tools/list`. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: ToolObjectSchema;
  readonly outputSchema?: ToolObjectSchema;
  readonly _meta?: { readonly 'zomma/example'?: Readonly<Record<string, unknown>> };
}

/** The form field of one argument. */
export interface ToolField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'integer' | 'choice';
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
export function toolFields({ inputSchema, _meta }: McpTool): ToolField[] {
  const required = new Set(inputSchema.required);
  const examples = _meta?.['zomma/example'] ?? {};
  return Object.entries(inputSchema.properties ?? {})
    .map(([name, schema]): ToolField => {
      const isRequired = required.has(name);
      const choices = choicesOf(schema);
      return {
        name,
        label: labelOf(name),
        kind: choices ? 'choice' : schema.type === 'integer' || schema.type === 'number' ? schema.type : 'text',
        choices: choices ? (isRequired ? choices : ['', ...choices]) : [],
        isRequired,
        initial: textOf(schema.default),
        example: textOf(examples[name]),
        help: cleanText(schema.description),
        rule: ruleOf(schema, isRequired),
      };
    })
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Returns a name of the registry as words: `win_prob` becomes `win prob`. */
export function labelOf(name: string): string {
  return cleanText(name).replaceAll('_', ' ');
}

function choicesOf({ enum: values, type }: ToolSchema): string[] | undefined {
  if (values) return values.map(textOf);
  return type === 'boolean' ? ['true', 'false'] : undefined;
}

function ruleOf(schema: ToolSchema, isRequired: boolean): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const least = minimum ?? exclusiveMinimum;
  const most = maximum ?? exclusiveMaximum;
  const from = least === undefined ? '' : `${minimum === undefined ? 'above ' : ''}${boundText(least)}`;
  const to = most === undefined ? '' : `${maximum === undefined ? 'below' : 'to'} ${boundText(most)}`;
  return [`${from} ${to}`.trim(), isRequired ? '' : 'optional'].filter(Boolean).join(', ');
}

/** Returns a bound as a short text: `1e15`, `0.001`. */
function boundText(bound: number): string {
  const size = Math.abs(bound);
  const isShort = size === 0 || (size >= 1e-4 && size < 1e6);
  return (isShort ? String(bound) : bound.toExponential().replace('e+', 'e')).replace('-', size >= 1e-4 ? '−' : '-');
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
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
    const isBoolean = kind === 'choice' && choices.includes('true') && choices.includes('false');
    const number = Number(text.replace('−', '-'));
    if (isBoolean) args[name] = text === 'true';
    else if ((kind === 'number' || kind === 'integer') && Number.isFinite(number)) args[name] = number;
    else args[name] = /^\[[-\d., ]*\]$/.test(text) ? text.slice(1, -1).split(',').map(Number) : text;
  }
  return args;
}

export interface ToolProblem {
  /** Error messages by the name of the field. */
  readonly byField: Readonly<Record<string, string>>;
  /** The error messages that do not belong to a single field. */
  readonly rest: string;
}

/**
 * Assigns each sentence of a tool's error message to a field of the form. A sentence belongs to a field if it starts with `/` and the
 * field's name, or if it contains the name or the value of the argument.
 */
export function problemOf(message: string, fields: readonly ToolField[], texts: Readonly<Record<string, string>>) {
  const text = cleanText(message, 2000);
  const byField: Record<string, string> = {};
  // The error message ends with a list of all fields, for programs that have not read the schema. The form does not show this list.
  const about = text.replace(/ Fields: [\w (),]+\.$/, '');
  if (!about.startsWith('/')) {
    const name = fieldIn(about, fields, texts);
    return name === undefined ? { byField, rest: about } : { byField: { [name]: about }, rest: '' };
  }
  const rest: string[] = [];
  for (const part of about.split(/; (?=\/)/)) {
    const [, name = '', words = part] = /^\/([\w-]+) (.*)$/s.exec(part) ?? [];
    if (fields.some((field) => field.name === name)) byField[name] = sentence(words);
    else rest.push(part);
  }
  return { byField, rest: rest.join('; ') } satisfies ToolProblem;
}

/** Returns the field whose name or value appears first in a sentence. */
function fieldIn(text: string, fields: readonly ToolField[], texts: Readonly<Record<string, string>>) {
  const words = ` ${text.replace(/[.,;:]*(?:\s+|$)/g, ' ')} `;
  const places = fields.flatMap(({ name }) =>
    [name, (texts[name] ?? '').trim()]
      .filter((word) => word.length > 2)
      .map((word) => ({ name, at: words.indexOf(` ${word} `) })),
  );
  return places.filter(({ at }) => at >= 0).toSorted((a, b) => a.at - b.at)[0]?.name;
}

function sentence(words: string): string {
  // The function removes the regular expression from a message, because the words after it have the same meaning.
  const plain = words.replace(/must match \S+: (.)/, (_, first: string) => `must be: ${first.toLowerCase()}`);
  return `${plain[0]!.toUpperCase()}${plain.slice(1)}${plain.endsWith('.') ? '' : '.'}`;
}
