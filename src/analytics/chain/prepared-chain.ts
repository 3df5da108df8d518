import { recordOf } from '../../core/record-of.ts';
import type { Chain, Series } from '../../market/chain.ts';
import type { AnalysisOptions, SignConvention } from './options.ts';

/**
 * The least time to settlement in computations. A shorter time is replaced by this value, because Greeks grow without bound in the last
 * minutes. The value is 15 minutes, because free quotes are delayed by 15 minutes.
 */
export const TTE_FLOOR_MS = 15 * 60_000;

/**
 * A chain prepared for analysis: the live contracts that `options` selects, with one forward for each series and one volatility for each
 * contract. Columns have `count` rows in the chain's order. `iv` is `NaN` if no method gives a volatility. Figures that need a volatility
 * leave out such a contract, and other figures include it.
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
  /** The discount rate of the contract's series, and the yield that carries spot to its forward. Continuous, decimal per year. */
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
  readonly pairs: Pairs;
  /** Gamma by the method of the option `gamma`, per 1.00 of spot. 0 if unknown. */
  readonly gamma: Float64Array;
  /** Open interest or volume in contracts, as the option `weight` chooses. */
  readonly weight: Float64Array;
  /**
   * Number of contracts that dealers are assumed to hold, + long, - short. By convention, the position is `weight` for calls and -`weight`
   * for puts. With the sign `flow`, it is the opposite of the customers' net position.
   */
  readonly position: Float64Array;
  readonly sign: SignConvention;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  readonly counts: PreparationCounts;
}

/**
 * The pairs of a chain, as columns of `count` rows in the contracts' order. A pair is a call and a put of one series and strike that have
 * the same volatility. A contract without a counterpart is a pair alone. Gamma and other figures that are equal for call and put are
 * computed once for each pair.
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

/** Names of the columns on which a price depends. Contracts and pairs both have these columns. */
export const PRICED_COLUMNS = ['strike', 'tte', 'iv', 'rate', 'dividend'] as const;

/** Returns the pairs [from, to) as views of the columns. */
export function slicePairs(pairs: Pairs, from: number, to: number): Omit<Pairs, 'contracts'> {
  return { count: to - from, ...recordOf(PRICED_COLUMNS, (name) => pairs[name].subarray(from, to)) };
}

/** A series of a prepared chain, with its forward and its smile. Units are as in `PreparedChain`, and the forward is in dollars. */
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
 * The total implied variance at each strike of a series, in order of log-moneyness ln(K/F). The smile includes only strikes whose
 * volatility comes from the feed or from a quote, and no strikes with a stale quote. If enough of these strikes have a two-sided quote, the
 * smile leaves out the others (see `smileOf`).
 */
export interface Smile {
  readonly logMoneyness: Float64Array;
  readonly totalVariance: Float64Array;
}

/** The method that gave a forward: see `seriesForward`. `flat` means that the option `forward` is `flat`. */
export type ForwardMethod = 'regression' | 'parity' | 'delta' | 'carry' | 'flat';

/** How the contracts of a snapshot were used, or why they were left out: `contracts` = `used` + settled + adjusted + other_expiry. */
export interface PreparationCounts {
  /** Contracts in the snapshot. */
  readonly contracts: number;
  /** Live and selected contracts, which the analysis uses. */
  readonly used: number;
  readonly left_out: {
    readonly settled: number;
    readonly adjusted: number;
    readonly other_expiry: number;
    /** Contracts without a volatility. `used` includes them, because only figures that need a volatility leave them out. */
    readonly no_volatility: number;
  };
  /** The used contracts, by the origin of their volatility. */
  readonly iv: {
    readonly taken: number;
    readonly solved: number;
    readonly interpolated: number;
    /** Contracts beyond the smile's outermost strike, which have the volatility of this outermost strike. */
    readonly extended: number;
  };
  /** Strikes whose out-of-the-money quote contradicts the quotes of neighbouring strikes. The smile leaves these strikes out. */
  readonly stale_quotes: number;
  /** Rows of the source that were rejected, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}
