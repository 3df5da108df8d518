import { recordOf } from '../../core/record-of.ts';
import { hedges } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type DayAhead, dayAheadOf, SERIES_INPUTS } from './day-ahead.ts';
import { largestRows } from './largest.ts';

/** A contract and the trades with which dealers hedge their position in it. Positive numbers are purchases, negative numbers are sales. */
export interface HedgingNode {
  /** The row of the contract in the prepared chain. */
  readonly contract: number;
  readonly strike: number;
  readonly callPut: number;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** OSI root. Two series with the same expiry have different roots. */
  readonly root: string;
  /** Settlement instant, ms since the epoch. */
  readonly settlesAt: number;
  /** Shares that dealers trade if spot rises by 1 %. */
  readonly dealerShares: number;
  /** Shares that dealers are expected to trade over the coming calendar day (see `dayAheadOf`). */
  readonly deltaFlux: number;
  /** The inputs of `dealerShares` and `deltaFlux`. */
  readonly inputs: {
    /** Contracts that dealers hold: + for long, - for short. */
    readonly position: number;
    /** Shares per contract. */
    readonly multiplier: number;
    readonly tte: number;
    /** Volatility, decimal per year. `iv` and `deltaFlux` are 0 if the volatility is unknown. */
    readonly iv: number;
    /** Change of delta per 1.00 of spot. */
    readonly gamma: number;
    readonly delta: number;
    /** The expected delta one calendar day later, or at settlement if settlement is earlier. */
    readonly deltaAfter: number;
    /** Forward of the series, dollars. */
    readonly forward: number;
    /** Discount rate, continuous, decimal per year. */
    readonly rate: number;
    readonly hedgeYield: number;
  };
}

/**
 * Ranks contracts by the absolute number of shares that dealers trade if spot rises by 1 %. Returns at most `limit` contracts from the rank
 * `from` on. `deltaFlux` is an expected difference of deltas, because charm grows without bound near settlement; its sum times spot over
 * all contracts is the chain's charm exposure with the opposite sign.
 */
export function hedgingNodes(prepared: PreparedChain, limit: number, from = 0): HedgingNode[] {
  const { gamma, position, multiplier } = prepared;
  const shares = (row: number) => sharesOf(prepared, row);
  const moved = new Float64Array(prepared.count);
  for (let row = 0; row < moved.length; row++) moved[row] = Math.abs(shares(row));
  const ranked = largestRows(moved, from, from + limit);
  const ahead = dayAheadOf(prepared);
  const { iv, delta, change } = hedgesOf(prepared, ahead, ranked);
  return ranked.map((row, rank) => {
    const index = prepared.seriesIndex[row]!;
    const { series, forward, rate } = prepared.series[index]!;
    const { hedgeYield } = ahead[index]!;
    return {
      contract: row,
      strike: prepared.strike[row]!,
      callPut: prepared.callPut[row]!,
      expiry: series.expiry,
      root: series.root,
      settlesAt: series.settlesAt,
      dealerShares: Math.round(shares(row)),
      deltaFlux: iv[rank]! > 0 ? -change[rank]! * position[row]! * multiplier[row]! : 0,
      inputs: {
        position: position[row]!,
        multiplier: multiplier[row]!,
        tte: prepared.tte[row]!,
        iv: iv[rank]!,
        gamma: gamma[row]!,
        delta: delta[rank]!,
        deltaAfter: delta[rank]! + change[rank]!,
        forward,
        rate,
        hedgeYield,
      },
    };
  });
}

/** Returns the shares that dealers trade to hedge a contract if spot rises by 1 %, or `undefined` if the chain lacks the contract. */
export function dealerSharesOf(
  prepared: PreparedChain,
  { root, expiry, callPut, strike }: Pick<HedgingNode, 'root' | 'expiry' | 'callPut' | 'strike'>,
): number | undefined {
  const found = prepared.series.find(({ series }) => series.root === root && series.expiry === expiry);
  for (let row = found?.start ?? 0; row < (found?.end ?? 0); row++) {
    if (prepared.strike[row] === strike && prepared.callPut[row] === callPut)
      return Math.round(sharesOf(prepared, row));
  }
  return undefined;
}

function sharesOf({ chain, gamma, position, multiplier }: PreparedChain, row: number): number {
  return -gamma[row]! * position[row]! * multiplier[row]! * 0.01 * chain.spot;
}

function hedgesOf(prepared: PreparedChain, ahead: readonly DayAhead[], rows: readonly number[]) {
  const column = (source: Float64Array) => Float64Array.from(rows, (row) => source[row]!);
  const iv = column(prepared.iv).map((each) => each || 0);
  const { delta, change } = hedges({
    count: rows.length,
    callPut: column(prepared.callPut),
    spot: prepared.chain.spot,
    strike: column(prepared.strike),
    iv,
    tte: column(prepared.tte),
    ...recordOf(SERIES_INPUTS, (name) => Float64Array.from(rows, (row) => ahead[prepared.seriesIndex[row]!]![name])),
  });
  return { iv, delta, change };
}
