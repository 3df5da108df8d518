import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Steps } from '../../core/steps.ts';
import type { ClockStep, FeedState, Gap } from '../../market/feed-ledger.ts';
import type { Market } from '../../market/market.ts';
import type { Universe } from '../../market/universe.ts';
import { flagField, integerField, momentField, namedObject, textField } from './schemas.ts';
import { textList } from './wrapped-schemas.ts';

/**
 * One function of the service, such as the analysis of a chain. REST, MCP, OpenAPI, the command line and the typed client use the same
 * definition. Each adapter has its own schema for the arguments, and sends a selection of the full result's keys.
 */
export interface Operation<
  Input extends TObject = TObject,
  Full extends TObject = TObject,
  Key extends keyof Static<Full> & string = keyof Static<Full> & string,
> {
  readonly name: string;
  /** True if the operation reads market data. Clients can also request the answer of such an operation for an earlier moment. */
  readonly ofMarket?: true;
  /** True if the answer always describes the present moment. Clients may not cache such an answer, and it has no ETag. */
  readonly ofNow?: true;
  readonly title: string;
  readonly description: string;
  /** The name of the terminal's view for the operation, or the reason why the operation has no view. `house` has all tools. */
  readonly page: string | { readonly absent: string };
  /** The arguments of an example call, for the documentation. */
  readonly example: Partial<Static<Input>>;
  /** The schema of the arguments. Each description gives the unit. */
  readonly input: Input;
  /** The schema of the full result, with every key that an answer can have. */
  readonly full: Full;
  /** Absent if the operation is not offered as a tool. */
  readonly tool?: ToolForm<Key>;
  readonly rest?: RestForm<Full>;
  /** Computes the answer, in steps if the work takes long. Keys that the caller does not get (`isWanted`) may be left out. */
  run(
    input: Static<Input>,
    context: Context,
    isWanted: (key: string) => boolean,
  ): Answer<Static<Full>> | Steps<Answer<Static<Full>>>;
  /** Draws the answer as SVG if the argument `format` is `image`. Adapters send the drawing as PNG. */
  picture?(result: Static<Full>, provenance: Provenance): string;
}

export interface ToolForm<Key extends string = string> {
  /** The question of a user that the tool answers, in a few words. The instructions for models map the question to the tool. */
  readonly question: string;
  /** The anchor of the section in docs/methods that describes the method of the operation. */
  readonly method: string;
  /** Texts on units and signs that every MCP host shows, in the description, the arguments or the answer. */
  readonly units: readonly string[];
  /** Keys that the default answer always has. */
  readonly answers: readonly Key[];
  /** Keys that the default answer has only if an argument asks for them. These keys are optional in `full`. */
  readonly onDemand?: readonly Key[];
  /** Keys that MCP adds to the provenance: how the arguments were understood, and figures that prevent wrong conclusions. */
  readonly echoes?: readonly Key[];
}

export interface RestForm<Full extends TObject = TObject> {
  readonly method: 'GET' | 'POST';
  /** The path of the route. A segment `{name}` stands for an argument. */
  readonly path: string;
  /** The schema of the route's arguments. Absent if the schema equals `input` of the operation. */
  readonly input?: TObject;
  /** Keys of the route's answer. If the field is absent, the answer has every key. */
  readonly answers?: readonly (keyof Static<Full> & string)[];
  /** Maximum size of a body with columns, bytes. If the field is absent, the general limit on bodies applies. */
  readonly bodyBytesMax?: number;
  /** True for a route of the API contract, whose answer has exactly the fields of the contract. */
  readonly isContract?: true;
  /** True if the route of market data also answers without any data. `as_of` of such an answer is null. */
  readonly mayLackData?: true;
  readonly binary?: BinaryForm;
}

/** The binary form of a route. An `application/octet-stream` body contains little-endian float64 columns, one after the other. */
export interface BinaryForm {
  /** The names of the request's columns, in the order of the columns. */
  readonly inputs: readonly string[];
  /** The names of the answer's columns, in the order of the columns. */
  readonly answers: readonly string[];
  /** The names of the arguments that a binary request has in its query. */
  readonly parameters: readonly string[];
  /** Throws `ClientError` (422) if the body has a wrong length or a value out of bounds. `options` are the arguments of the query. */
  compute(body: ArrayBuffer, options: Readonly<Record<string, unknown>>): Steps<Uint8Array>;
}

export interface Answer<Result> {
  readonly result: Result;
  /** Present if the answer was computed from market data. */
  readonly provenance?: Provenance;
}

/** Source and age of an answer's data. Only the age depends on the wall clock, and in a replay on the replay's moment. */
export interface Provenance {
  readonly source: string;
  readonly simulated: boolean;
  /** The time at which the quotes were taken, ISO 8601. */
  readonly as_of: string;
  readonly age_s: number;
  /** True if the exchange was open for more than `Context.staleAfterMs` since the quotes were taken. */
  readonly stale: boolean;
  /** Caveats about the figures, for example that a flow is computed from snapshots. */
  readonly notes: readonly string[];
}

/** The media type in which adapters send pictures. */
export const PICTURE_TYPE = 'image/png';

/** The schema of the provenance in answers. */
export const PROVENANCE = namedObject('Provenance', 'Source and age of the data.', {
  source: textField('Source of the data.'),
  simulated: flagField('True for the simulated market.'),
  as_of: momentField('When the quotes were taken, ISO 8601.'),
  age_s: integerField(
    'Age of the quotes now, or at the moment `at` of the request, seconds; negative if they are dated in the future.',
  ),
  stale: flagField('True if the quotes are older than the --stale-after setting, counted in trading hours.'),
  notes: textList('Caveats on the figures.'),
});

const { age_s: _age, stale: _stale, ...origin } = PROVENANCE.properties;

/** The schema of the provenance without what changes with the age, for answers that stay the same while the data ages. */
export const ORIGIN = namedObject(
  'Origin',
  'Source and moment of the data. The age is not part of it, because it changes while the answer stays the same.',
  origin,
);

/** The clock of an answer that may be cached. */
export interface CacheClock {
  /** Returns whether a moment has passed, ms since the epoch. The answer is cached only while the result stays the same. */
  hasPassed(atMs: number): boolean;
  /** Returns the present moment for the age in the provenance, which is written anew whenever the answer is sent. */
  nowMs(): number;
}

/** Returns whether a moment has passed, ms since the epoch. Notes must use this function and not `nowMs`, so that answers can be cached. */
export function hasPassed(atMs: number, { cacheClock, nowMs }: Pick<Context, 'cacheClock' | 'nowMs'>): boolean {
  return cacheClock ? cacheClock.hasPassed(atMs) : atMs <= nowMs();
}

/** The dependencies of operations: the market, the universe, the clock (for ages only), the feeds and the operator's thresholds. */
export interface Context {
  readonly market: Market;
  readonly universe: Universe;
  /** Returns the present moment, ms since the epoch. An answer that calls this function is not cached. `hasPassed` is the alternative. */
  readonly nowMs: () => number;
  /** Present while an answer is computed that may be cached. */
  readonly cacheClock?: CacheClock | undefined;
  /** Returns the state of each feed. */
  readonly feedStates: () => readonly FeedState[];
  readonly clockSteps: () => readonly ClockStep[];
  /** Returns the periods between two moments (ms since the epoch) in which the feeds missed prints, the newest period first. */
  readonly gapsIn: (fromMs: number, toMs: number) => readonly Gap[];
  /** Maximum age of fresh quotes, ms of trading hours. Older quotes are stale. */
  readonly staleAfterMs: number;
  /** The minimum premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  /** The minimum absolute flow of a stock that can spill into a sector ETF, dollars. */
  readonly contagionMinUsd: number;
  /** Called for each request that has a ticker. */
  readonly onTicker?: (ticker: string) => void;
}

/** Returns the operation unchanged. A call of this function lets TypeScript infer the types of `run` from the schemas. */
export function defineOperation<
  Input extends TObject,
  Full extends TObject,
  const Key extends keyof Static<Full> & string = never,
>(operation: Operation<Input, Full, Key>): Operation<Input, Full, Key> {
  return operation;
}

/** Returns the schema of an answer that has only the given keys of the full result. */
export function answerSchema(full: TObject, keys: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(keys.map((key) => [key, full.properties[key]!])), {
    additionalProperties: false,
  });
}

/** Returns the given keys of a full result, in the given order. Leaves out keys that the result does not have. */
export function pickFields(result: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const key of keys) if (key in result) picked[key] = result[key];
  return picked;
}
