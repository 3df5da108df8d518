/**
 * One underlying's option quotes at one instant, as parallel columns. Rows are ordered by series, then strike, then calls
 * before puts; `NaN` means "not given". A chain is immutable once built: analyses may cache by its identity.
 */
export interface Chain {
  readonly underlying: string;
  /** When the quotes were taken, ms since the epoch: the clock of every analysis of this chain. */
  readonly asOf: number;
  readonly spot: number;
  /** Where it came from: `simulated`, or `files:NAME`. */
  readonly source: string;
  readonly simulated: boolean;
  readonly count: number;
  readonly series: readonly Series[];
  /** Row to position in `series`. */
  readonly seriesIndex: Uint16Array;
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  readonly last: Float64Array;
  /** Contracts traded on the day of the snapshot. */
  readonly volume: Float64Array;
  /** Contracts outstanding, as of the prior day. */
  readonly openInterest: Float64Array;
  /** Implied volatility as the feed gives it, decimal. */
  readonly iv: Float64Array;
  /** Delta and gamma as the feed gives them, per 1.00 of spot. */
  readonly delta: Float64Array;
  readonly gamma: Float64Array;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  /** Rows of the source that were refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The contracts of one root and expiry date: they share settlement, forward and smile. Rows [start, end) of the chain. */
export interface Series {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly settlement: 'AM' | 'PM';
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** A root of an adjusted deliverable (AMD1): kept out of aggregates. */
  readonly adjusted: boolean;
  readonly start: number;
  readonly end: number;
}

const COLUMNS = [
  ...['seriesIndex', 'callPut', 'strike', 'bid', 'ask', 'last', 'volume'],
  ...['openInterest', 'iv', 'delta', 'gamma', 'multiplier'],
] as (keyof Chain & ('seriesIndex' | 'callPut' | 'strike'))[];

/** Whether two snapshots say the same of the same moment, wherever they come from. */
export function sameQuotes(a: Chain, b: Chain): boolean {
  return (
    a.asOf === b.asOf &&
    a.underlying === b.underlying &&
    a.simulated === b.simulated &&
    a.spot === b.spot &&
    a.count === b.count &&
    COLUMNS.every((column) => bytesOf(a[column]).equals(bytesOf(b[column]))) &&
    Bun.deepEquals(a.series, b.series) &&
    Bun.deepEquals(a.refused, b.refused)
  );
}

/** By their bits: a NaN is the same as itself. */
function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
