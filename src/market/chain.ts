import { recordOf } from '../core/record-of.ts';
/**
 * The option quotes of one underlying at one instant, as parallel columns. Rows are ordered by series and then by strike. At each strike,
 * the call comes before the put. `NaN` means "not given". A chain never changes once it is built, so results of analyses may be cached with
 * the chain object as the key.
 */
export interface Chain {
  readonly underlying: string;
  /** When the quotes were taken, ms since the epoch. Every analysis of this chain uses this moment as the present. */
  readonly asOf: number;
  readonly spot: number;
  /** Origin of the chain: `simulated`, or the feed and a name as in `files:NAME`. */
  readonly source: string;
  readonly simulated: boolean;
  readonly count: number;
  readonly series: readonly Series[];
  /** The position of each row's series in `series`. */
  readonly seriesIndex: Uint16Array;
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  readonly last: Float64Array;
  /** Contracts traded on the day of the snapshot. */
  readonly volume: Float64Array;
  /** Contracts outstanding at the end of the prior day. */
  readonly openInterest: Float64Array;
  /** Implied volatility as the feed gives it, decimal per year. */
  readonly iv: Float64Array;
  /**
   * Delta and gamma as the feed gives them. Delta is the change of the option's price per dollar of spot, and gamma is the change of delta
   * per dollar of spot.
   */
  readonly delta: Float64Array;
  readonly gamma: Float64Array;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  /** Rows of the source that were rejected, counted by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/**
 * The contracts of one root and expiry date: rows [start, end) of the chain. These contracts have the same settlement, forward and smile.
 */
export interface Series {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly settlement: 'AM' | 'PM';
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** Whether the contracts deliver something other than 100 plain shares, as those of the root AMD1 do. Analyses leave out such series. */
  readonly adjusted: boolean;
  readonly start: number;
  readonly end: number;
}

/** The columns of numbers, in the order in which they are stored. */
export const CHAIN_COLUMNS = [
  ...(['callPut', 'strike', 'bid', 'ask', 'last', 'volume'] as const),
  ...(['openInterest', 'iv', 'delta', 'gamma', 'multiplier'] as const),
] as const;

/** Returns the columns of a chain with `count` contracts, filled with 0. */
export function emptyChainColumns(count: number) {
  return { seriesIndex: new Uint16Array(count), ...recordOf(CHAIN_COLUMNS, () => new Float64Array(count)) };
}

/** Returns whether two snapshots are equal in every field except `source`. */
export function sameQuotes(a: Chain, b: Chain): boolean {
  return (
    a.asOf === b.asOf &&
    a.underlying === b.underlying &&
    a.simulated === b.simulated &&
    a.spot === b.spot &&
    a.count === b.count &&
    [...CHAIN_COLUMNS, 'seriesIndex' as const].every((column) => bytesOf(a[column]).equals(bytesOf(b[column]))) &&
    Bun.deepEquals(a.series, b.series) &&
    Bun.deepEquals(a.refused, b.refused)
  );
}

/** Returns the bytes of a column. In a comparison of bytes, a NaN equals itself. */
function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint16Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
