import { cleanText } from '../page-format.ts';

/** The schema of one argument or of one figure of a tool, as far as forms use it. */
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

/** The schema of a tool's arguments, or of its answer. */
export interface ToolObjectSchema {
  readonly properties?: Readonly<Record<string, ToolSchema>>;
  readonly required?: readonly string[];
}

/** A tool as `tools/list` describes it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: ToolObjectSchema;
  readonly outputSchema?: ToolObjectSchema;
  readonly _meta?: { readonly 'zomma/example'?: Readonly<Record<string, unknown>> };
}

/** One field of a form: an argument of a tool. */
export interface ToolField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'integer' | 'choice';
  /** The values of a choice. An optional choice begins with the empty text. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** What the field contains before the member types: the default of the schema. */
  readonly initial: string;
  /** The value of the tool's example, to show in an empty field. */
  readonly example: string;
  /** What the argument means, with its unit. */
  readonly help: string;
  /** The bounds and whether the argument may be left out, in words. */
  readonly rule: string;
}

/** Returns the fields of a tool's form, required arguments first. Texts come from the server and are cleaned. */
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

/** Returns a name of the registry in words: `win_prob` as `win prob`. */
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

/** A bound, short: `1e15`, `0.001`. */
function boundText(bound: number): string {
  const size = Math.abs(bound);
  const isShort = size === 0 || (size >= 1e-4 && size < 1e6);
  return (isShort ? String(bound) : bound.toExponential().replace('e+', 'e')).replace('-', size >= 1e-4 ? '−' : '-');
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Returns the arguments for the texts of a form. An empty field is left out. A text that is no number where the tool wants one is sent as it
 * is, so that the server says what it must be.
 */
export function argumentsOf(fields: readonly ToolField[], texts: Readonly<Record<string, string>>) {
  const args: Record<string, string | number | boolean> = {};
  for (const { name, kind, choices } of fields) {
    const text = (texts[name] ?? '').trim();
    if (text === '') continue;
    const isBoolean = kind === 'choice' && choices.includes('true') && choices.includes('false');
    const number = Number(text.replace('−', '-'));
    if (isBoolean) args[name] = text === 'true';
    else if ((kind === 'number' || kind === 'integer') && Number.isFinite(number)) args[name] = number;
    else args[name] = text;
  }
  return args;
}

export interface ToolProblem {
  /** Sentences by the field that they are about. */
  readonly byField: Readonly<Record<string, string>>;
  /** The sentences about no single field. */
  readonly rest: string;
}

/**
 * Assigns the sentences of a tool's error to the fields of its form. A sentence about an argument begins with `/` and its name, or says the
 * name or the value of the argument.
 */
export function problemOf(message: string, fields: readonly ToolField[], texts: Readonly<Record<string, string>>) {
  const text = cleanText(message, 2000);
  const byField: Record<string, string> = {};
  // The list of all fields is for programs that have not seen the schema.
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

/** Returns the field whose name or value a sentence says first. */
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
  // A pattern is for programs. The words after it say the same.
  const plain = words.replace(/must match \S+: (.)/, (_, first: string) => `must be: ${first.toLowerCase()}`);
  return `${plain[0]!.toUpperCase()}${plain.slice(1)}${plain.endsWith('.') ? '' : '.'}`;
}
