import { recordOf } from '../../core/record-of.ts';
import type { Chain, Series } from '../../market/chain.ts';
import type { AnalysisOptions, SignConvention } from './options.ts';

/**
 * The least time to settlement in computations. The floor replaces shorter times to settlement, because Greeks grow without bound in the
 * last minutes. The value is the delay of free quotes, 15 minutes.
 */
export const TTE_FLOOR_MS = 15 * 60_000;

/**
 * A chain prepared for analysis: live contracts that `options` selects, with a forward per series and a volatility per contract. Columns
 * have `count` rows in the chain's order. `iv` is `NaN` if no method gives a volatility. A contract without a volatility is left out only
 * of figures that need a volatility.
 */
export interface PreparedChain {
  readonly chain: Chain;
  readonly options: AnalysisOptions;
  readonly series: readonly PreparedSeries[];
  readonly count: number;
  /** The contract's row in `chain`. */
  readonly row: Uint32Array;
  /** The position of the contract's series in `series`. */
  readonly seriesIndex: Uint16Array;
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  /** Years to settlement. */
  readonly tte: Float64Array;
  readonly iv: Float64Array;
  /** The discount rate of the series, and the yield with which spot grows to the series' forward. Continuous, decimal per year. */
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
  readonly pairs: Pairs;
  /** Gamma per 1.00 of spot, by the method that the option `gamma` selects. 0 if unknown. */
  readonly gamma: Float64Array;
  /** Open interest or volume, whichever the option `weight` selects, in contracts. */
  readonly weight: Float64Array;
  /**
   * Number of contracts that dealers are assumed to hold: + for long, - for short. By the default convention, the position is `weight` for
   * calls and `-weight` for puts. With the sign `flow`, the position is the opposite of the customers' net position.
   */
  readonly position: Float64Array;
  readonly sign: SignConvention;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  readonly counts: PreparationCounts;
}

/**
 * The pairs of a chain, as columns of `count` rows in the contracts' order. A pair is a call and a put of one series and strike that have
 * the same volatility. A contract without a counterpart forms a pair by itself. Figures that are equal for a call and its put, like gamma,
 * are computed once per pair.
 */
export interface Pairs {
  readonly count: number;
  /** The contracts of pair i are the rows [contracts[i], contracts[i + 1]) of the prepared chain. */
  readonly contracts: Uint32Array;
  readonly strike: Float64Array;
  readonly tte: Float64Array;
  readonly iv: Float64Array;
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
}

/** Names of the columns on which a price depends. Both contracts and pairs have these columns. */
export const PRICED_COLUMNS = ['strike', 'tte', 'iv', 'rate', 'dividend'] as const;

/** Returns the pairs [from, to) as views of the columns. */
export function slicePairs(pairs: Pairs, from: number, to: number): Omit<Pairs, 'contracts'> {
  return { count: to - from, ...recordOf(PRICED_COLUMNS, (name) => pairs[name].subarray(from, to)) };
}

/** A prepared series with its forward and its smile. Units are as in `PreparedChain`, with forwards in dollars. */
export interface PreparedSeries {
  readonly series: Series;
  /** The contracts of the series are the rows [start, end) of the prepared chain. */
  readonly start: number;
  readonly end: number;
  readonly tte: number;
  readonly forward: number;
  readonly forwardMethod: ForwardMethod;
  readonly rate: number;
  readonly dividend: number;
  readonly smile: Smile;
}

/**
 * The total implied variance at each strike of a series, in order of log-moneyness ln(K/F). The smile includes a strike only if the
 * strike's volatility comes from the feed or from a fresh quote. If enough strikes have a two-sided quote, the smile leaves out all strikes
 * without a two-sided quote (see `smileOf`).
 */
export interface Smile {
  readonly logMoneyness: Float64Array;
  readonly totalVariance: Float64Array;
}

/** The method that gave a forward (see `seriesForward`). `flat` means that the option `forward` is `flat`. */
export type ForwardMethod = 'regression' | 'parity' | 'delta' | 'carry' | 'flat';

/** Numbers of used and excluded contracts of a snapshot, with `contracts = used + settled + adjusted + other_expiry`. */
export interface PreparationCounts {
  /** Contracts in the snapshot. */
  readonly contracts: number;
  /** Live and selected contracts, which the analysis uses. */
  readonly used: number;
  readonly left_out: {
    readonly settled: number;
    readonly adjusted: number;
    readonly other_expiry: number;
    /**
     * Used contracts without a volatility. Figures that need a volatility leave out contracts without a volatility. `used` includes these
     * contracts.
     */
    readonly no_volatility: number;
  };
  /** The used contracts, by the origin of their volatility. */
  readonly iv: {
    readonly taken: number;
    readonly solved: number;
    readonly interpolated: number;
    /**
     * Contracts with a strike beyond the smile's outermost strike. Contracts beyond the smile get the volatility of the nearest strike in
     * the smile.
     */
    readonly extended: number;
  };
  /**
   * Strikes whose out-of-the-money quote contradicts the quotes of neighbouring strikes. The smile leaves out strikes with contradicting
   * quotes.
   */
  readonly stale_quotes: number;
  /** Rows of the source that were rejected, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}
