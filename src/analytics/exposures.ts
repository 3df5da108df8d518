import { MARKET_UNITS } from '../math/black-scholes.ts';
import { exposureSums } from '../math/exposures.ts';
import type { PreparedChain } from './prepared-chain.ts';

/** What dealers hold over the whole chain, dollars, under the stated sign convention (long calls, short puts). */
export interface Exposures {
  /** Delta-notional. Never negative under this convention: calls held long, puts short, both positive deltas. */
  readonly dex: number;
  /** Net gamma, per 1 % move. */
  readonly gex: number;
  /** Sum of absolute values, per 1 % move. */
  readonly grossGex: number;
  /** Delta-notional gained per vol point. */
  readonly vex: number;
  /** Delta-notional gained per calendar day. */
  readonly cex: number;
}

export function exposures(prepared: PreparedChain): Exposures {
  const { chain, count, callPut, strike, tte, rate, dividend } = prepared;
  // A contract with no volatility has no exposure.
  const iv = new Float64Array(count);
  const weight = new Float64Array(count);
  const gammaDollars = gexByContract(prepared);
  let [gex, grossGex] = [0, 0];
  for (let at = 0; at < count; at++) {
    iv[at] = prepared.iv[at]! || 0;
    if (iv[at]! > 0) weight[at] = callPut[at]! * prepared.weight[at]! * prepared.multiplier[at]! * chain.spot;
    gex += gammaDollars[at]!;
    grossGex += Math.abs(gammaDollars[at]!);
  }
  const sums = exposureSums({ count, callPut, spot: chain.spot, strike, tte, iv, rate, dividend, weight });
  return { dex: sums.delta, gex, grossGex, vex: sums.vanna * MARKET_UNITS.vanna, cex: sums.charm * MARKET_UNITS.charm };
}

/** GEX of each contract, dollars per 1 % move: sign * Gamma * contracts * multiplier * S^2 * 0.01. */
export function gexByContract({ chain, count, callPut, gamma, weight, multiplier }: PreparedChain): Float64Array {
  const scale = chain.spot * chain.spot * 0.01;
  const gex = new Float64Array(count);
  for (let at = 0; at < count; at++) gex[at] = callPut[at]! * gamma[at]! * weight[at]! * multiplier[at]! * scale;
  return gex;
}
