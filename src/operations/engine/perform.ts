import { type TObject, Type } from '@sinclair/typebox';
import { memoizeByObject } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import { ClientError, type ClientErrorCode } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import type { Steps } from '../../core/steps.ts';
import { ALL_DIGITS } from '../../math/decimals.ts';
import { contextAt, withMoment } from './moment.ts';
import { answerSchema, type Context, type Operation, PROVENANCE, type Provenance, pickFields } from './operation.ts';
import { objectOf } from './schemas.ts';
import { TableArguments } from './table-arguments.ts';
import { satisfies, validate } from './validate.ts';

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
}

export interface Performed {
  readonly body: Record<string, unknown>;
  /** The values of the view's `echoes`. */
  readonly echoes: Record<string, unknown>;
  readonly provenance: Provenance | undefined;
  /** The argument `digits` of a wide answer. */
  readonly digits?: number;
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
    output: objectOf({ ...operation.full.properties, provenance: Type.Optional(PROVENANCE) }),
    answers: undefined,
    echoes: [],
  }),
);

/** Returns the view of an operation's own REST route. */
export const restView = memoizeByObject((operation: Operation): View => {
  const { input = operation.input, answers = Object.keys(operation.full.properties) } = operation.rest!;
  return view(operation, withDigits(operation, withMoment(operation, input)), answers);
});

/** The number of digits in answers with columns of figures. 10 are exact for market prices, and a quarter to a third shorter than all. */
const digits = Type.Optional(
  Type.Integer({
    description:
      'Number of significant digits. Whole numbers have all digits, and prices and strikes have fewer than 10. 17 gives all digits.',
    minimum: 10,
    maximum: ALL_DIGITS,
    default: 10,
  }),
);

/** Adds the argument `digits` to the GET routes of market data, except to the routes of the API contract. */
function withDigits({ ofMarket, rest }: Operation, input: TObject): TObject {
  return ofMarket && rest!.method === 'GET' && !rest!.ignoresUnknown
    ? objectOf({ ...input.properties, digits })
    : input;
}

/**
 * Validates the arguments, runs the operation and picks the keys of the view. Throws `ClientError`: with the given code for invalid
 * arguments, unprocessable if they lead to a number that is not finite, and those of the operation. Any other answer that does not match
 * its schema is a defect, and throws `Error`.
 */
export function* perform(
  { operation, input, output, answers, echoes }: View,
  args: unknown,
  context: Context,
  code: ClientErrorCode,
): Steps<Performed> {
  const { digits, ...valid } = args instanceof TableArguments ? args.fields : validate(input, args, code);
  if (typeof valid.ticker === 'string') context.onTicker?.(context.market.nameOf(valid.ticker));
  const isWanted = (key: string) => answers === undefined || answers.includes(key) || echoes.includes(key);
  const outcome =
    typeof valid.at === 'string'
      ? operation.run(withoutMoment(valid), contextAt(context, valid.at, code), isWanted)
      : operation.run(valid, context, isWanted);
  const { result, provenance: origin } = 'result' in outcome ? outcome : yield* outcome;
  const provenance = origin && withNameNote(origin, valid, context);
  const body = answers
    ? pickFields(result, answers)
    : { ...result, ...(provenance && { provenance: { ...provenance, notes: [...provenance.notes] } }) };
  if (!satisfies(output, body))
    throw notFiniteError(input, args instanceof TableArguments ? args.fields : args, body) ?? schemaMismatch(operation);
  const moment = typeof valid.at === 'string' && { at: valid.at };
  const performed = {
    body,
    echoes: { ...pickFields(result, echoes), ...moment },
    provenance,
    ...(digits !== undefined && { digits: digits as number }),
  };
  if (valid.format !== 'image' || !operation.picture || !provenance) return performed;
  yield { message: 'Drawing the answer' };
  return { ...performed, picture: operation.picture(result, provenance) };
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
