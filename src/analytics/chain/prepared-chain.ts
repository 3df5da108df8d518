import type { Chain, Series } from '../../market/chain.ts';
import type { AnalysisOptions, SignConvention } from './options.ts';

/**
 * A chain made ready for analysis: the live contracts with one forward per series and one volatility per contract.
 * Columns hold `count` rows in the chain's order; a volatility that nothing gives is `NaN` and its `weight` still counts.
 */
export interface PreparedChain {
  readonly chain: Chain;
  readonly options: AnalysisOptions;
  readonly series: readonly PreparedSeries[];
  readonly count: number;
  /** Row in the chain. */
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
  /** By the chosen route, per 1.00 of spot; 0 where it is not known. */
  readonly gamma: Float64Array;
  /** Contracts that count: open interest or volume. */
  readonly weight: Float64Array;
  /** Contracts that dealers hold, + long, - short: by the convention their weight, or the other side of customers' trades. */
  readonly position: Float64Array;
  readonly sign: SignConvention;
  /** Shares per contract. */
  readonly multiplier: Float64Array;
  readonly counts: PreparationCounts;
}

/**
 * A call and a put of one strike that share their volatility, or one of them alone: what does not depend on the side, as gamma,
 * is worked out once. Columns of `count` rows, in the contracts' order.
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
export function partOf(pairs: Pairs, from: number, to: number): Omit<Pairs, 'contracts'> {
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

/** Where every contract of the source went. */
export interface PreparationCounts {
  /** Contracts in the snapshot. */
  readonly contracts: number;
  /** Live and selected: what the analysis saw. */
  readonly used: number;
  readonly left_out: {
    readonly settled: number;
    readonly adjusted: number;
    readonly other_expiry: number;
    /** No volatility by any route: no part in figures that need one. */
    readonly no_volatility: number;
  };
  /** Of the contracts used: how each came by its volatility. */
  readonly iv: {
    readonly taken: number;
    readonly solved: number;
    readonly interpolated: number;
    /** Flat beyond the outermost strike with a volatility. */
    readonly extended: number;
  };
  /** Strikes whose out-of-the-money quote contradicts its neighbours': no part of the smile. */
  readonly stale_quotes: number;
  /** Rows that the reader of the source refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}
