import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { memoizeByObject } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import { ClientError, type ClientErrorCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import type { Steps } from '../../core/steps.ts';
import { ALL_DIGITS } from '../../math/decimals.ts';
import { type Selection, tableForms } from './answer-tables.ts';
import { contextAt, withMoment } from './moment.ts';
import {
  type Answer,
  answerSchema,
  type Context,
  type Operation,
  PROVENANCE,
  type Provenance,
  pickFields,
} from './operation.ts';
import { defaulted, documented, momentField, namedObject, objectOf, oneOf, textField } from './schemas.ts';
import { readRowwise, TableArguments } from './table-arguments.ts';
import { satisfies, validate } from './validate.ts';
import { nullable } from './wrapped-schemas.ts';

/** An adapter's view of an operation: the schema of the arguments, and the keys of the answer that the adapter sends. */
export interface View {
  readonly operation: Operation;
  readonly input: TObject;
  /** The schema of the answer. */
  readonly output: TObject;
  /** The keys of the answer. Undefined for the extended answer, because the extended answer has every key. */
  readonly answers: readonly string[] | undefined;
  /** Keys of the full result that MCP adds to the provenance. */
  readonly echoes: readonly string[];
  /** Keys that the view adds to the answer, so that the answer states its moment and its options. */
  readonly states?: readonly ('as_of' | 'options')[];
}

export interface Performed {
  readonly body: Record<string, unknown>;
  /** The options of an analysis that differ from the defaults. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The values of the view's `echoes`. */
  readonly echoes: Record<string, unknown>;
  readonly provenance: Provenance | undefined;
  /** The argument `digits` of a wide answer. */
  readonly digits?: number;
  /** What the caller selects from the answer, if the view has arguments for it. */
  readonly selection?: Selection;
  /** The answer as SVG, if the caller requested an image and the operation can draw. */
  readonly picture?: string;
}

/** Returns the view of a tool with its default answer and its echoes. */
export const toolView = memoizeByObject((operation: Operation): View => {
  const { answers, onDemand = [], echoes = [] } = operation.tool!;
  return view(operation, withMoment(operation, operation.input), [...answers, ...onDemand], echoes);
});

/** Returns the view of a tool for adapters that do not send its echoes, so that nothing is computed for the echoes. */
export const plainToolView = memoizeByObject((operation: Operation): View => ({ ...toolView(operation), echoes: [] }));

/** Returns the view of an operation with its extended answer: every key, and the provenance. */
export const extendedView = memoizeByObject(
  (operation: Operation): View => ({
    operation,
    input: withMoment(operation, operation.input),
    output: objectOf({
      ...operation.full.properties,
      ...statedOptions(operation, operation.input),
      provenance: Type.Optional(PROVENANCE),
    }),
    answers: undefined,
    echoes: [],
    // The provenance of an extended answer has the moment.
    states: ['options'],
  }),
);

/** Returns the view of an operation's own REST route. The answers of market data state their moment and options, except the contract's. */
export const restView = memoizeByObject((operation: Operation): View => {
  const own = figuresView(operation);
  if (!operation.ofMarket || operation.rest!.isContract) return own;
  const { full, rest } = operation;
  // Some answers have a moment of their own, such as a column with the moment of each row.
  const states = 'as_of' in full.properties ? (['options'] as const) : (['as_of', 'options'] as const);
  const stated = {
    ...(states.length > 1 && { as_of: rest!.mayLackData ? nullable(asOf, AS_OF_OR_NULL) : asOf }),
    ...statedOptions(operation, own.input),
  };
  return { ...own, states, output: objectOf({ ...stated, ...own.output.properties }) };
});

/** Returns the view of an operation's own REST route, without the statements on moment and options that `restView` adds. */
export const figuresView = memoizeByObject((operation: Operation): View => {
  const { input = operation.input, answers = Object.keys(operation.full.properties) } = operation.rest!;
  return view(operation, withDigits(operation, withMoment(operation, input)), answers);
});

const asOf = momentField('When the quotes were taken, ISO 8601.');
const AS_OF_OR_NULL = 'When the oldest of the quotes were taken, ISO 8601; null without data.';

/** The arguments that decide how a chain is analysed, and which of its expiries are. */
const OPTIONS = [
  ...(['forward', 'rate', 'dividend', 'gamma', 'iv', 'weight', 'sign', 'smile_dynamics'] as const),
  ...(['expiries', 'expiry'] as const),
] as const;

/** Returns the schema of the field `options`, for operations of market data that take some of the options. */
function statedOptions({ ofMarket }: Operation, { properties }: TObject): TProperties {
  const taken = OPTIONS.filter((name) => ofMarket && properties[name]);
  if (taken.length === 0) return {};
  const schemas = taken.map((name) => {
    const { default: _, ...schema } = stated[name] ?? properties[name]!;
    return [name, Type.Optional(schema as TSchema)];
  });
  const [hasMove, hasSign, hasExpiry] = (['smile_dynamics', 'sign', 'expiry'] as const).map((each) =>
    taken.includes(each),
  );
  const ofMove = hasSign ? (hasExpiry ? 'FlipOrExpiryOptions' : 'FlipOptions') : 'HedgingOptions';
  const several = hasMove ? ofMove : 'AnalysisOptions';
  const name = taken.length > 1 ? several : taken[0] === 'expiry' ? 'ExpiryOption' : 'ExpiriesOption';
  return { options: Type.Optional(namedObject(name, OPTIONS_STATED, Object.fromEntries(schemas))) };
}

/** The schemas of options whose arguments have other ones, for some or all operations. */
const stated: Partial<Record<(typeof OPTIONS)[number], TSchema>> = {
  expiry: documented(textField('The expiry, YYYY-MM-DD or 0dte.'), { anyOf: [{ enum: ['0dte'] }, { format: 'date' }] }),
  smile_dynamics: textField('Volatilities if spot moves: sticky_moneyness, ssr, or ssr=R.'),
};

const OPTIONS_STATED = 'Options of the request that differ from the defaults. Absent if none does.';

/** Returns the options of a request that differ from the defaults. Returns `undefined` if there are none. */
function optionsIn({ properties }: TObject, valid: Readonly<Record<string, unknown>>) {
  const given = OPTIONS.filter((name) => ![undefined, 'all', properties[name]?.default].includes(valid[name]));
  return given.length > 0 ? pickFields(valid, given) : undefined;
}
/** Returns the view of an operation's own REST route, with the arguments that select from the answer and choose its format. */
export const routeView = memoizeByObject((operation: Operation): View => {
  const { input, ...view } = restView(operation);
  const { method, isContract } = operation.rest!;
  if (method !== 'GET') return { input, ...view };
  const tables = tableForms(view.output).map(({ name }) => name);
  const { format } = input.properties;
  const formats = [...(format ? [] : ['json']), ...TABLE_FORMATS];
  const added = {
    ...(tables.length > 0 && {
      format: format
        ? {
            ...format,
            enum: [...format.enum, 'json', ...TABLE_FORMATS],
            description: `${format.description} ${FORMATS}`,
          }
        : defaulted(oneOf(formats, FORMATS), 'json'),
    }),
    ...(tables.length === 0 && !isContract && { format: defaulted(oneOf(['json'], 'json: the only format.'), 'json') }),
    ...(tables.length > 1 && {
      table: Type.Optional(
        oneOf(tables, 'Table of an answer in a table format. By default, the first of these that the answer has.'),
      ),
    }),
    ...(!isContract && { fields }),
  };
  return { input: objectOf({ ...input.properties, ...added }), ...view };
});

/** The values of the argument `format` for the table formats. */
export const TABLE_FORMATS = ['columns', 'csv', 'parquet', 'arrow'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

const FORMATS =
  'json; columns: a table as JSON, with the columns in an object of their own; csv, parquet or arrow: a table. Takes precedence over Accept.';

const fields = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    description:
      'Fields of the answer or, in a table format, columns of the table. By default, all. JSON has these fields alone, without the others of its schema.',
    ...{ minItems: 1, maxItems: 100 },
  }),
);

/** The number of digits in answers with columns of figures. 10 are exact for market prices, and a quarter to a third shorter than all. */
const digits = Type.Optional(
  Type.Integer({
    description:
      'Number of significant digits in JSON and CSV. Whole numbers have all digits, and prices and strikes have fewer than 10. 17 gives all digits.',
    minimum: 10,
    maximum: ALL_DIGITS,
    default: 10,
  }),
);

/** Adds the argument `digits` to the GET routes of market data, except to the routes of the API contract. */
function withDigits({ ofMarket, rest }: Operation, input: TObject): TObject {
  return ofMarket && rest!.method === 'GET' && !rest!.isContract ? objectOf({ ...input.properties, digits }) : input;
}

/**
 * Validates the arguments, runs the operation and picks the keys of the view. Throws `ClientError`: with the given code for invalid
 * arguments, unprocessable if they lead to a number that is not finite, and those of the operation. Any other answer that does not match
 * its schema is a defect, and throws `Error`.
 */
export function* perform(
  { operation, input, output, answers, echoes, states = [] }: View,
  args: unknown,
  context: Context,
  code: ClientErrorCode,
): Steps<Performed> {
  const tableArgs = args instanceof TableArguments ? args : readRowwise(input, args, code);
  const { digits, fields, table, ...others } = tableArgs?.fields ?? validate(input, args, code);
  // If the format is not an argument of the operation, a cursor from an answer in one format is also valid in another.
  const { format, ...rest } = others;
  const valid = 'format' in operation.input.properties ? { ...rest, format } : rest;
  if (typeof valid.ticker === 'string') context.onTicker?.(context.market.nameOf(valid.ticker));
  const isWanted = (key: string) =>
    !answers || [answers, echoes, states].some((each: readonly string[]) => each.includes(key));
  const { result, provenance: origin } = yield* withCode(code, valid, () =>
    typeof valid.at === 'string'
      ? operation.run(withoutMoment(valid), contextAt(context, valid.at), isWanted)
      : operation.run(valid, context, isWanted),
  );
  const provenance = origin && withNameNote(origin, valid, context);
  const options = operation.ofMarket ? optionsIn(input, valid) : undefined;
  const stated = {
    ...(states.includes('as_of') && { as_of: provenance?.as_of ?? null }),
    ...(states.includes('options') && options && { options }),
  };
  const body = answers
    ? { ...stated, ...pickFields(result, answers) }
    : { ...result, ...stated, ...(provenance && { provenance: { ...provenance, notes: [...provenance.notes] } }) };
  if (!satisfies(output, body))
    throw notFiniteError(input, args instanceof TableArguments ? args.fields : args, body) ?? schemaMismatch(operation);
  const moment = typeof valid.at === 'string' && { at: valid.at };
  const performed = {
    body,
    ...(options && { options }),
    echoes: { ...pickFields(result, echoes), ...moment },
    provenance,
    ...(digits !== undefined && { digits: digits as number }),
    ...((fields ?? table) !== undefined && { selection: { fields, table } as Selection }),
  };
  if (valid.format !== 'image' || !operation.picture || !provenance) return performed;
  yield { message: 'Drawing the answer' };
  return { ...performed, picture: operation.picture(result, provenance) };
}

/** The arguments that select expiries. */
const EXPIRY_ARGUMENTS = ['expiry', 'expiries', 'target_expiry'];

/**
 * Runs an operation, and gives its errors the code and the status of the place from which the arguments come. An operation does not know
 * this place, so it throws `invalid_parameter` for a bad argument, and `unknown_expiry` without the name of the argument.
 */
function* withCode<Result>(
  code: ClientErrorCode,
  valid: Readonly<Record<string, unknown>>,
  run: () => Answer<Result> | Steps<Answer<Result>>,
): Steps<Answer<Result>> {
  try {
    const outcome = run();
    return 'result' in outcome ? outcome : yield* outcome;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const [isArgument, isExpiry] = [error.code === 'invalid_parameter', error.code === 'unknown_expiry'];
    if (!isArgument && !isExpiry) throw error;
    const field = EXPIRY_ARGUMENTS.find((name) => valid[name] !== undefined && valid[name] !== 'all');
    const isUnnamed = isExpiry && error.fieldErrors.length === 0 && field !== undefined;
    throw new ClientError(isArgument ? code : error.code, error.message, {
      ...error,
      ...(isUnnamed && { fieldErrors: [{ field: `/${field}`, expected: 'must be a listed expiry' }] }),
      isOfBody: code === 'invalid_body',
    });
  }
}

/** Adds a note for each ticker that was given by a name or an old symbol. */
function withNameNote(provenance: Provenance, valid: Record<string, unknown>, { market }: Context): Provenance {
  const given = [valid.ticker ?? valid.single_name_ticker ?? valid.tickers].flat();
  const names = given.filter((each): each is string => typeof each === 'string' && market.isByName(each));
  if (names.length === 0) return provenance;
  const notes = names.map((each) => `"${cleanLine(each)}" was read as ${market.nameOf(each)}.`);
  return { ...provenance, notes: [...notes, ...provenance.notes] };
}

function schemaMismatch({ name }: Operation): Error {
  return new Error(`The answer of ${name} does not fit its schema`);
}

/** Returns an error that names the numeric arguments if a number of the answer is not finite. Otherwise returns `undefined`. */
function notFiniteError(input: TObject, args: unknown, body: unknown): ClientError | undefined {
  const field = notFinite(body);
  if (field === undefined || !isRecord(args)) return undefined;
  const given = Object.keys(args).filter(
    (name) => NUMERIC.has(input.properties[name]?.type) || typeof args[name] === 'object',
  );
  if (given.length === 0) return undefined;
  return new ClientError('unprocessable', `${field} of the answer is not a finite number for these arguments`, {
    hint: 'Use less extreme values. Each value is within its bounds, but together they give no finite answer.',
    fieldErrors: given.map((name) => ({
      field: `/${name}`,
      expected: 'must be less extreme, or another field must be',
    })),
  });
}

const NUMERIC: ReadonlySet<unknown> = new Set(['number', 'integer']);

/** Returns the JSON Pointer of the first number in an answer that is infinite or NaN. Returns `undefined` if all numbers are finite. */
function notFinite(value: unknown, pointer = ''): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : pointer;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, each] of Object.entries(value)) {
    const found = notFinite(each, `${pointer}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function withoutMoment({ at: _, ...own }: Record<string, unknown>): Record<string, unknown> {
  return own;
}

function view(operation: Operation, input: TObject, answers: readonly string[], echoes: readonly string[] = []): View {
  return { operation, input, output: answerSchema(operation.full, answers), answers, echoes };
}
