import { DAY_MS, YEAR_MS } from '../../market/calendar.ts';
import { greeks } from '../../math/black-scholes.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { largestRows } from './largest.ts';

/** A contract with the hedging trades of the dealers who hold it. Positive numbers are purchases, negative numbers are sales. */
export interface HedgingNode {
  readonly strike: number;
  readonly callPut: number;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** OSI root. Two series of one expiry have different roots. */
  readonly root: string;
  /** Shares that dealers trade if spot rises by 1 %. */
  readonly dealerShares: number;
  /** Shares that dealers trade over the coming calendar day if spot and volatility stay the same. */
  readonly deltaFlux: number;
  /** The inputs of `dealerShares` and `deltaFlux`. */
  readonly inputs: {
    /** Contracts that dealers hold, + long, - short. */
    readonly position: number;
    /** Shares per contract. */
    readonly multiplier: number;
    readonly tte: number;
    /** Decimal per year. 0 if it is not known. `deltaFlux` is then 0. */
    readonly iv: number;
    /** Change of delta per 1.00 of spot. */
    readonly gamma: number;
    readonly delta: number;
    /** Delta one calendar day later, or at settlement if that is earlier. */
    readonly deltaAfter: number;
  };
}

/**
 * Ranks contracts by the absolute number of shares that dealers trade if spot rises by 1 %. Returns up to `limit` contracts, from rank
 * `from` on. `deltaFlux` is a difference of two deltas, and not the derivative (charm), because charm grows without bound in the last
 * minutes. The second delta is that of a day later, or at settlement if less than a day is left.
 */
export function hedgingNodes(prepared: PreparedChain, limit: number, from = 0): HedgingNode[] {
  const { chain, gamma, position, multiplier } = prepared;
  const shares = (row: number) => -gamma[row]! * position[row]! * multiplier[row]! * 0.01 * chain.spot;
  const moved = new Float64Array(prepared.count);
  for (let row = 0; row < moved.length; row++) moved[row] = Math.abs(shares(row));
  const ranked = largestRows(moved, from, from + limit);
  const { iv, before, after } = deltasADayApart(prepared, ranked);
  return ranked.map((row, rank) => {
    const { series } = prepared.series[prepared.seriesIndex[row]!]!;
    return {
      strike: prepared.strike[row]!,
      callPut: prepared.callPut[row]!,
      expiry: series.expiry,
      root: series.root,
      dealerShares: Math.round(shares(row)),
      deltaFlux: iv[rank]! > 0 ? (before[rank]! - after[rank]!) * position[row]! * multiplier[row]! : 0,
      inputs: {
        position: position[row]!,
        multiplier: multiplier[row]!,
        tte: prepared.tte[row]!,
        iv: iv[rank]!,
        gamma: gamma[row]!,
        delta: before[rank]!,
        deltaAfter: after[rank]!,
      },
    };
  });
}

function deltasADayApart(prepared: PreparedChain, rows: readonly number[]) {
  const column = (source: Float64Array) => Float64Array.from(rows, (row) => source[row]!);
  const tte = column(prepared.tte);
  const now = {
    count: rows.length,
    callPut: column(prepared.callPut),
    spot: prepared.chain.spot,
    strike: column(prepared.strike),
    tte,
    iv: column(prepared.iv).map((iv) => iv || 0),
    rate: column(prepared.rate),
    dividend: column(prepared.dividend),
  };
  const before = greeks(now).delta;
  const after = greeks({ ...now, tte: tte.map((each) => Math.max(each - DAY_MS / YEAR_MS, 0)) }).delta;
  return { iv: now.iv, before, after };
}
