import { recordOf } from '../core/record-of.ts';
/**
 * The option quotes of an underlying at one instant, as columns in order of series, strike, and call before put. `NaN` means "not given". A
 * chain never changes, so that it may be the key of caches.
 */
export interface Chain {
  readonly underlying: string;
  /** The time of the quotes, ms since the epoch. An analysis of the chain uses this time as the present time. */
  readonly asOf: number;
  readonly spot: number;
  /** The origin of the chain: `simulated`, or a feed with a name, such as `files:NAME`. */
  readonly source: string;
  readonly simulated: boolean;
  readonly count: number;
  readonly series: readonly Series[];
  /** The index of each row's series in the array `series`. */
  readonly seriesIndex: Uint16Array;
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  readonly last: Float64Array;
  /** Contracts traded on the day of the snapshot. */
  readonly volume: Float64Array;
  /** Open contracts at the end of the previous day. */
  readonly openInterest: Float64Array;
  /** Implied volatility from the feed, decimal per year. */
  readonly iv: Float64Array;
  /** Delta and gamma from the feed: change of the price, and of delta, per dollar of spot. */
  readonly delta: Float64Array;
  readonly gamma: Float64Array;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  /** Rows of the source that were rejected, counted by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The contracts of one root and expiry, rows `start` (included) to `end` (excluded), with one settlement, forward and smile. */
export interface Series {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly settlement: 'AM' | 'PM';
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** Whether a contract delivers something other than 100 plain shares, for example if its root is AMD1. Analyses leave out such series. */
  readonly adjusted: boolean;
  readonly start: number;
  readonly end: number;
}

/** The columns of numbers, in the order in which the store writes them. */
export const CHAIN_COLUMNS = [
  ...(['callPut', 'strike', 'bid', 'ask', 'last', 'volume'] as const),
  ...(['openInterest', 'iv', 'delta', 'gamma', 'multiplier'] as const),
] as const;

/** Returns the columns of a chain with `count` contracts, filled with 0. */
export function emptyChainColumns(count: number) {
  return { seriesIndex: new Uint16Array(count), ...recordOf(CHAIN_COLUMNS, () => new Float64Array(count)) };
}

/** Returns whether any contract has a bid, an ask, a last price or an implied volatility. */
export function isPriced({ bid, ask, last, iv }: Pick<Chain, 'bid' | 'ask' | 'last' | 'iv'>): boolean {
  return [iv, bid, ask, last].some((column) => column.some((each) => each > 0));
}

/** Returns whether any contract has open interest. A chain without open interest has no levels. */
export function hasOpenInterest({ openInterest }: Pick<Chain, 'openInterest'>): boolean {
  return openInterest.some((each) => each > 0);
}

/** A side with fewer listed contracts may have no open interest. */
const SIDE_MIN = 20;

/** Returns the side that has contracts, but no open interest, if the other side has some. Levels of one side would look like those of both. */
export function sideWithoutInterest({
  callPut,
  openInterest,
}: Pick<Chain, 'callPut' | 'openInterest'>): 'calls' | 'puts' | undefined {
  const contracts = { calls: 0, puts: 0 };
  const open = { calls: false, puts: false };
  for (const [row, side] of callPut.entries()) {
    const name = side > 0 ? 'calls' : 'puts';
    contracts[name]++;
    open[name] ||= openInterest[row]! > 0;
    if (open.calls && open.puts) return undefined;
  }
  if (open.calls === open.puts || Math.min(contracts.calls, contracts.puts) < SIDE_MIN) return undefined;
  return open.calls ? 'puts' : 'calls';
}

/** Says that a stored chain has no levels, because it has no open interest. */
export const NO_LEVELS = 'stored without open interest: no levels';

/** Says that the newest chain of a ticker has one expiry. */
export const ONE_EXPIRY_ALONE = 'one expiry only: levels are of this expiry alone';

/** Says that the levels of a chain are not those of the ticker, if the chain has one expiry that has not settled. */
export function onlyExpiryOf({ series, asOf }: Pick<Chain, 'series' | 'asOf'>): string | undefined {
  const expiries = new Set(series.filter(({ settlesAt }) => settlesAt > asOf).map(({ expiry }) => expiry));
  const [expiry] = expiries;
  return expiries.size === 1 ? `one expiry only: ${expiry}; levels are of this expiry alone` : undefined;
}

/** Returns whether two snapshots are equal. The field `source` may differ. */
export function sameQuotes(a: Chain, b: Chain): boolean {
  return (
    a.asOf === b.asOf &&
    a.underlying === b.underlying &&
    a.simulated === b.simulated &&
    a.spot === b.spot &&
    a.count === b.count &&
    [...CHAIN_COLUMNS, 'seriesIndex' as const].every((column) => sameValues(a[column], b[column])) &&
    Bun.deepEquals(a.series, b.series) &&
    Bun.deepEquals(a.refused, b.refused)
  );
}

/** Returns whether two columns are equal. NaN equals NaN, and -0 equals 0, because the store does not keep the sign of 0. */
function sameValues(a: Float64Array | Uint16Array, b: Float64Array | Uint16Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i] || (Number.isNaN(value) && Number.isNaN(b[i])));
}
