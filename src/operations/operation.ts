import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { FeedState, Gap } from '../market/feed-ledger.ts';
import type { Market } from '../market/market.ts';
import type { Universe } from '../market/universe.ts';
import type { Steps } from '../steps.ts';

/**
 * One function of the service, defined once. REST, MCP, OpenAPI, the command line and the typed client are adapters over this definition.
 * Each adapter has its own view of the arguments and picks keys from the full result.
 */
export interface Operation<
  Input extends TObject = TObject,
  Full extends TObject = TObject,
  Key extends keyof Static<Full> & string = keyof Static<Full> & string,
> {
  readonly name: string;
  /** The operation reads market data. Clients can also ask for its answer as of an earlier moment. */
  readonly ofMarket?: true;
  /** The answer describes the present moment only. It is never cached, and has no ETag. */
  readonly ofNow?: true;
  readonly title: string;
  readonly description: string;
  /** Arguments of an example call. `describe` adds them to the description. */
  readonly example: Partial<Static<Input>>;
  /** Arguments. Each description gives the unit. */
  readonly input: Input;
  /** Every key that the operation can answer: the extended answer. */
  readonly full: Full;
  /** Absent if the operation is not a tool. */
  readonly tool?: ToolForm<Key>;
  readonly rest?: RestForm<Full>;
  /** Returns the answer at once, or in steps if the work takes long. `isWanted` says whether the caller's view of the answer has a key. */
  run(
    input: Static<Input>,
    context: Context,
    isWanted: (key: string) => boolean,
  ): Answer<Static<Full>> | Steps<Answer<Static<Full>>>;
}

export interface ToolForm<Key extends string = string> {
  /** Keys of the default answer. */
  readonly answers: readonly Key[];
  /** Further keys, which the answer has only if an argument asks for them. They are optional in `full`. */
  readonly onDemand?: readonly Key[];
}

export interface RestForm<Full extends TObject = TObject> {
  readonly method: 'GET' | 'POST';
  /** Path with `{parameter}` segments. */
  readonly path: string;
  /** The arguments of the route, if they differ from the tool's, for example by a default. */
  readonly input?: TObject;
  /** Keys of the answer. If absent, the answer has every key. */
  readonly answers?: readonly (keyof Static<Full> & string)[];
  /** Largest request body, bytes, if the arguments are columns. If absent, the limit of all other bodies applies. */
  readonly bodyBytesMax?: number;
  readonly binary?: BinaryForm;
}

/** The same arguments and answer in binary: little-endian float64 columns, one after the other in an `application/octet-stream` body. */
export interface BinaryForm {
  /** Names of the columns, in the order of the body. */
  readonly inputs: readonly string[];
  readonly answers: readonly string[];
  /** Throws `ClientError`: 422 if the body has a wrong length or a value is out of bounds, 400 if the units are unknown. */
  compute(body: ArrayBuffer, units: string | undefined): Steps<Uint8Array>;
}

export interface Answer<Result> {
  readonly result: Result;
  /** Present if the answer was computed from market data. */
  readonly provenance?: Provenance;
}

/** Source and age of the data of an answer. The age is as of now, or as of the moment of a replay. The figures never use the wall clock. */
export interface Provenance {
  readonly source: string;
  readonly simulated: boolean;
  /** When the quotes were taken, ISO 8601. */
  readonly as_of: string;
  readonly age_s: number;
  /** True if the quotes are older than `staleAfterMs` of the context. */
  readonly stale: boolean;
  /** Caveats on the figures, for example that flow was taken from snapshots. */
  readonly notes: readonly string[];
}

/** What operations can access: the market, the universe, the clock (for ages only) and the operator's thresholds. */
export interface Context {
  readonly market: Market;
  readonly universe: Universe;
  readonly nowMs: () => number;
  /** State of each feed. */
  readonly feedStates: () => readonly FeedState[];
  /** Periods between two moments (ms since the epoch) in which prints were not received, newest first. */
  readonly gapsIn: (fromMs: number, toMs: number) => readonly Gap[];
  /** Quotes older than this are stale, ms. */
  readonly staleAfterMs: number;
  /** Least premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  /** Smallest flow that can spill into a sector ETF, dollars. */
  readonly contagionMinUsd: number;
}

/** Returns the operation unchanged. The call makes TypeScript infer the types of `run` from the schemas. */
export function defineOperation<
  Input extends TObject,
  Full extends TObject,
  const Key extends keyof Static<Full> & string = never,
>(operation: Operation<Input, Full, Key>): Operation<Input, Full, Key> {
  return operation;
}

/** The description of an operation, followed by its example call if it has arguments. */
export function describe({ description, example }: Operation): string {
  return Object.keys(example).length === 0 ? description : `${description} Example: ${JSON.stringify(example)}.`;
}

/** The schema of an answer with some keys of the full result. No other keys are allowed. */
export function answerSchema(full: TObject, keys: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(keys.map((key) => [key, full.properties[key]!])), {
    additionalProperties: false,
  });
}

/** Picks keys from a full result, in the given order. Keys that the result does not have are left out. */
export function pickFields(result: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const key of keys) if (key in result) picked[key] = result[key];
  return picked;
}
