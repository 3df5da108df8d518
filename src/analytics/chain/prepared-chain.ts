import type { Chain, Series } from '../../market/chain.ts';
import type { AnalysisOptions, SignConvention } from './options.ts';

/** Time to settlement counts as at least this. Greeks explode in the last minutes, and quotes are that old anyway. */
export const TTE_FLOOR_MS = 15 * 60_000;

/**
 * A chain prepared for analysis: the live contracts, with one forward for each series and one volatility for each contract. Columns hold
 * `count` rows in the chain's order. A contract without a volatility has an `iv` of `NaN`, and its `weight` still counts.
 */
export interface PreparedChain {
  readonly chain: Chain;
  readonly options: AnalysisOptions;
  readonly series: readonly PreparedSeries[];
  readonly count: number;
  /** Row in `chain`. */
  readonly row: Uint32Array;
  /** Position in `series`. */
  readonly seriesIndex: Uint16Array;
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
  /** Years to settlement. */
  readonly tte: Float64Array;
  readonly iv: Float64Array;
  /** The series' discount rate and the yield that carries spot to its forward, continuous, per year. */
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
  readonly pairs: Pairs;
  /** By the chosen method, per 1.00 of spot. 0 if it is not known. */
  readonly gamma: Float64Array;
  /** Contracts: open interest or volume, as chosen by the option `weight`. */
  readonly weight: Float64Array;
  /** Contracts that dealers hold, + long, - short: by convention the signed `weight`, or else the opposite of customers' trades. */
  readonly position: Float64Array;
  readonly sign: SignConvention;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  readonly counts: PreparationCounts;
}

/**
 * A call and a put of one strike that share their volatility, or one of them alone. Figures that do not depend on the side, such as gamma,
 * are computed once for a pair. Columns of `count` rows, in the contracts' order.
 */
export interface Pairs {
  readonly count: number;
  /** Contracts of pair i are rows [contracts[i], contracts[i + 1]) of the prepared columns. */
  readonly contracts: Uint32Array;
  readonly strike: Float64Array;
  readonly tte: Float64Array;
  readonly iv: Float64Array;
  readonly rate: Float64Array;
  readonly dividend: Float64Array;
}

/** Pairs [from, to), as columns of their own. */
export function slicePairs(pairs: Pairs, from: number, to: number): Omit<Pairs, 'contracts'> {
  return {
    count: to - from,
    strike: pairs.strike.subarray(from, to),
    tte: pairs.tte.subarray(from, to),
    iv: pairs.iv.subarray(from, to),
    rate: pairs.rate.subarray(from, to),
    dividend: pairs.dividend.subarray(from, to),
  };
}

export interface PreparedSeries {
  readonly series: Series;
  /** Rows [start, end) of the prepared columns. */
  readonly start: number;
  readonly end: number;
  readonly tte: number;
  readonly forward: number;
  readonly forwardMethod: ForwardMethod;
  readonly rate: number;
  readonly dividend: number;
  /** Total implied variance by log-moneyness ln(K/F): strikes whose volatility was taken or solved, ascending. */
  readonly smile: Smile;
}

export interface Smile {
  readonly logMoneyness: Float64Array;
  readonly totalVariance: Float64Array;
}

export type ForwardMethod = 'regression' | 'parity' | 'delta' | 'carry' | 'flat';

/** What became of every contract of the source. */
export interface PreparationCounts {
  /** Contracts in the snapshot. */
  readonly contracts: number;
  /** Live and selected contracts, which the analysis uses. */
  readonly used: number;
  readonly left_out: {
    readonly settled: number;
    readonly adjusted: number;
    readonly other_expiry: number;
    /** No method gave a volatility. Figures that need one leave these contracts out. */
    readonly no_volatility: number;
  };
  /** The used contracts, by the origin of their volatility. */
  readonly iv: {
    readonly taken: number;
    readonly solved: number;
    readonly interpolated: number;
    /** Constant beyond the outermost strike with a volatility. */
    readonly extended: number;
  };
  /** Strikes whose out-of-the-money quote contradicts its neighbours. The smile leaves them out. */
  readonly stale_quotes: number;
  /** Rows of the source that were rejected, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}
