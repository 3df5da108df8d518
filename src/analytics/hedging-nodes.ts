import { DAY_MS, YEAR_MS } from '../market/calendar.ts';
import { greeks } from '../math/black-scholes.ts';
import type { PreparedChain } from './prepared-chain.ts';

/** A contract and the trades it makes its dealer do: + buys, - sells. */
export interface HedgingNode {
  readonly strike: number;
  readonly callPut: number;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** OSI root, which tells two series of one date apart. */
  readonly root: string;
  /** Shares per +1 % move of spot. */
  readonly dealerShares: number;
  /** Shares over the coming calendar day, spot and volatility standing still. */
  readonly deltaFlux: number;
  /** Contracts that count. */
  readonly contracts: number;
}

/**
 * The contracts whose hedging moves most shares, by the absolute trade per +1 % move. The flux is a difference of deltas a
 * day apart (at settlement where less is left): the derivative, charm, explodes in the last minutes.
 */
export function hedgingNodes(prepared: PreparedChain, limit: number): HedgingNode[] {
  const { chain, gamma, weight, position, multiplier } = prepared;
  const shares = gamma.map((each, at) => -each * position[at]! * multiplier[at]! * 0.01 * chain.spot);
  const ranked = Array.from(shares.keys())
    .filter((at) => shares[at] !== 0)
    .sort((a, b) => Math.abs(shares[b]!) - Math.abs(shares[a]!))
    .slice(0, limit);
  const flux = deltaFlux(prepared, ranked);
  return ranked.map((at, rank) => {
    const { series } = prepared.series[prepared.seriesIndex[at]!]!;
    return {
      strike: prepared.strike[at]!,
      callPut: prepared.callPut[at]!,
      expiry: series.expiry,
      root: series.root,
      dealerShares: Math.round(shares[at]!),
      deltaFlux: flux[rank]!,
      contracts: weight[at]!,
    };
  });
}

function deltaFlux(prepared: PreparedChain, rows: readonly number[]): number[] {
  const column = (source: Float64Array) => Float64Array.from(rows, (at) => source[at]!);
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
  return rows.map((at, rank) => {
    const flux = (before[rank]! - after[rank]!) * prepared.position[at]! * prepared.multiplier[at]!;
    return now.iv[rank]! > 0 ? flux : 0;
  });
}
