import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { FeedState, Gap } from '../market/feed-ledger.ts';
import type { Market } from '../market/market.ts';
import type { Universe } from '../market/universe.ts';
import type { Steps } from '../steps.ts';

/**
 * One capability of Zomma, defined once. REST routes, MCP tools, OpenAPI, CLI calls and the typed client are faces of it:
 * each gives its own view of the input and picks keys from the one full result.
 */
export interface Operation<
  Input extends TObject = TObject,
  Full extends TObject = TObject,
  Key extends keyof Static<Full> & string = keyof Static<Full> & string,
> {
  readonly name: string;
  /** Answers from market data, so that it can be asked as of an earlier moment too. */
  readonly ofMarket?: true;
  /** Answers what is so at this moment: no answer stands for a later one. */
  readonly ofNow?: true;
  readonly title: string;
  readonly description: string;
  /** Arguments. Each description gives the unit. */
  readonly input: Input;
  /** All that the operation can say: the extended answer. */
  readonly full: Full;
  /** Absent for operations that are no tools. */
  readonly tool?: ToolFace<Key>;
  readonly rest?: RestFace<Full>;
  /** Answers at once or, if that takes long, in steps. `isWanted` says whether the caller asks for a key of the answer. */
  run(
    input: Static<Input>,
    context: Context,
    isWanted: (key: string) => boolean,
  ): Answer<Static<Full>> | Steps<Answer<Static<Full>>>;
}

export interface ToolFace<Key extends string = string> {
  /** Keys of the default answer. */
  readonly answers: readonly Key[];
  /** Keys that it has besides where an argument asks for them; optional in `full`. */
  readonly onDemand?: readonly Key[];
}

export interface RestFace<Full extends TObject = TObject> {
  readonly method: 'GET' | 'POST';
  /** Path with `{parameter}` segments. */
  readonly path: string;
  /** Where this face's arguments differ from the tool's (a default, say). */
  readonly input?: TObject;
  /** Keys of the answer; without them, all there are. */
  readonly answers?: readonly (keyof Static<Full> & string)[];
  /** Bound of the request's body where the arguments are columns; without it, the bound of every body. */
  readonly bodyBytesMax?: number;
  readonly binary?: BinaryFace;
}

/** The same arguments and answer as columns of float64, little-endian, one after the other in a body of `application/octet-stream`. */
export interface BinaryFace {
  /** Names of the columns in their order. */
  readonly inputs: readonly string[];
  readonly answers: readonly string[];
  /** Throws `Failure`: 422 for a body of another length or a value out of bounds, 400 for units that are none. */
  compute(body: ArrayBuffer, units: string | undefined): Steps<Uint8Array>;
}

export interface Answer<Result> {
  readonly result: Result;
  /** Present where market data went into the answer. */
  readonly provenance?: Provenance;
}

/** Where an answer comes from. Ages are of the wall clock, or of the moment that was asked for; the figures themselves never are. */
export interface Provenance {
  readonly source: string;
  readonly simulated: boolean;
  /** ISO 8601: when the quotes were taken. */
  readonly as_of: string;
  readonly age_s: number;
  /** Older than the operator calls young: see `staleAfterMs`. */
  readonly stale: boolean;
  /** What a reader must know beside the figures, e.g. that flow was taken from snapshots. */
  readonly notes: readonly string[];
}

/** What operations may reach: the market, the universe, the clock (for ages only) and the operator's thresholds. */
export interface Context {
  readonly market: Market;
  readonly universe: Universe;
  readonly nowMs: () => number;
  /** What is known of the feeds. */
  readonly feedStates: () => readonly FeedState[];
  /** Times between two instants in which prints were not received, the newest first. */
  readonly gapsIn: (fromMs: number, toMs: number) => readonly Gap[];
  /** Quotes older than this are stale. */
  readonly staleAfterMs: number;
  /** Least premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  /** Least flow that can spill into a sector ETF, dollars. */
  readonly contagionMinUsd: number;
}

/** Ties the schemas to the types of `run`, then forgets them so that registries can hold any operation. */
export function defineOperation<
  Input extends TObject,
  Full extends TObject,
  const Key extends keyof Static<Full> & string = never,
>(operation: Operation<Input, Full, Key>): Operation<Input, Full, Key> {
  return operation;
}

/** The schema of some keys of a full result, closed: an answer carries exactly these. */
export function answerSchema(full: TObject, keys: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(keys.map((key) => [key, full.properties[key]!])), {
    additionalProperties: false,
  });
}

/** Picks those keys from a full result, in their order; a key that it leaves out is left out. */
export function pick(result: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const key of keys) if (key in result) picked[key] = result[key];
  return picked;
}
