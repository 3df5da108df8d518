import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Steps } from '../../core/steps.ts';
import type { FeedState, Gap } from '../../market/feed-ledger.ts';
import type { Market } from '../../market/market.ts';
import type { Universe } from '../../market/universe.ts';
import { describedObject, flagField, integerField, textField } from './schemas.ts';
import { textColumn } from './wrapped-schemas.ts';

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
  /** True if the operation reads market data. Clients can then also ask for its answer as of an earlier moment. */
  readonly ofMarket?: true;
  /** True if the answer describes the present moment only. Such an answer is never cached and has no ETag. */
  readonly ofNow?: true;
  readonly title: string;
  readonly description: string;
  /** The view of the web terminal that asks for the operation, as its addresses name it, or why no view does. `house` has a form for each tool. */
  readonly page: string | { readonly absent: string };
  /** Arguments of an example call, for the documentation. */
  readonly example: Partial<Static<Input>>;
  /** The schema of the arguments. Each description gives the unit. */
  readonly input: Input;
  /** The schema of the full result, with every key that an answer can have. */
  readonly full: Full;
  /** Absent if the operation is not a tool. */
  readonly tool?: ToolForm<Key>;
  readonly rest?: RestForm<Full>;
  /**
   * Computes the answer. Returns the answer directly, or as steps if the work takes long. `isWanted` returns whether the caller gets a key,
   * so that the operation need not compute the other keys.
   */
  run(
    input: Static<Input>,
    context: Context,
    isWanted: (key: string) => boolean,
  ): Answer<Static<Full>> | Steps<Answer<Static<Full>>>;
  /** Draws the answer as SVG, which adapters send as PNG. Used if the argument `format` is `image`. An operation that draws has this argument. */
  picture?(result: Static<Full>, provenance: Provenance): string;
}

export interface ToolForm<Key extends string = string> {
  /** What a user asks, in a few words. The instructions for models map it to the tool. */
  readonly question: string;
  /** The anchor of the section on its method in docs/methods. */
  readonly method: string;
  /** The words on the units and signs of the figures that every host shows: in the description, the arguments or the answer. */
  readonly units: readonly string[];
  /** Keys of the default answer. */
  readonly answers: readonly Key[];
  /** Further keys that the default answer has only if an argument asks for them. These keys are optional in `full`. */
  readonly onDemand?: readonly Key[];
  /**
   * Keys of the full result that MCP adds to the provenance of an answer: what the arguments were taken to mean, and figures without which
   * the answer can mislead.
   */
  readonly echoes?: readonly Key[];
}

export interface RestForm<Full extends TObject = TObject> {
  readonly method: 'GET' | 'POST';
  /** The path. A segment `{name}` stands for an argument. */
  readonly path: string;
  /** The schema of the route's arguments, if it differs from `input` of the operation, for example by a default. */
  readonly input?: TObject;
  /** Keys of the answer. If absent, the answer has every key. */
  readonly answers?: readonly (keyof Static<Full> & string)[];
  /** Maximum size of a body with columns, bytes. If absent, the general limit of bodies applies. */
  readonly bodyBytesMax?: number;
  /** True if unknown query parameters are ignored, as the API contract's routes always did. */
  readonly ignoresUnknown?: true;
  readonly binary?: BinaryForm;
}

/** Binary arguments and answer of a route: little-endian float64 columns, one after the other in an `application/octet-stream` body. */
export interface BinaryForm {
  /** Names of the columns of a request, in their order. */
  readonly inputs: readonly string[];
  /** Names of the columns of an answer, in their order. */
  readonly answers: readonly string[];
  /** Throws `ClientError`: 422 if the body has a wrong length or a value is out of bounds, 400 if the units are unknown. */
  compute(body: ArrayBuffer, units: string | undefined): Steps<Uint8Array>;
}

export interface Answer<Result> {
  readonly result: Result;
  /** Present if the answer was computed from market data. */
  readonly provenance?: Provenance;
}

/** Source and age of the data of an answer. The age is measured now, or at the moment of a replay. No other figure uses the wall clock. */
export interface Provenance {
  readonly source: string;
  readonly simulated: boolean;
  /** When the quotes were taken, ISO 8601. */
  readonly as_of: string;
  readonly age_s: number;
  /** True if the exchange was open for more than `staleAfterMs` of the context since the quotes were taken. */
  readonly stale: boolean;
  /** Caveats on the figures, for example that flow was taken from snapshots. */
  readonly notes: readonly string[];
}

/** The media type in which adapters send pictures. */
export const PICTURE_TYPE = 'image/png';

/** The schema of `Provenance` in answers. */
export const PROVENANCE = describedObject('Source and age of the data.', {
  source: textField('Source of the data.'),
  simulated: flagField('True for the simulated market.'),
  as_of: textField('When the quotes were taken, ISO 8601.'),
  age_s: integerField('Age of the quotes now, or at the moment `at` of the request, seconds.'),
  stale: flagField('True if the quotes are older than the --stale-after setting, counted in trading hours.'),
  notes: textColumn('Caveats on the figures.'),
});

/** Everything that operations can access: the market, the universe, the clock (for ages only), the feeds and the operator's thresholds. */
export interface Context {
  readonly market: Market;
  readonly universe: Universe;
  readonly nowMs: () => number;
  /** State of each feed. */
  readonly feedStates: () => readonly FeedState[];
  /** Periods between two moments (ms since the epoch) in which prints were not received, newest first. */
  readonly gapsIn: (fromMs: number, toMs: number) => readonly Gap[];
  /** Quotes are stale if they are older than this, counted in trading hours, ms. */
  readonly staleAfterMs: number;
  /** Minimum premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  /** Minimum absolute flow that can spill into a sector ETF, dollars. */
  readonly contagionMinUsd: number;
  /** Called with the ticker of each request that has one. */
  readonly onTicker?: (ticker: string) => void;
}

/** Returns the operation unchanged. The call makes TypeScript infer the types of `run` from the schemas. */
export function defineOperation<
  Input extends TObject,
  Full extends TObject,
  const Key extends keyof Static<Full> & string = never,
>(operation: Operation<Input, Full, Key>): Operation<Input, Full, Key> {
  return operation;
}

/** Returns the schema of an answer with some keys of the full result. No other keys are allowed. */
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
