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
  const iv = prepared.iv.map((each) => each || 0);
  const weight = callPut.map((sign, at) =>
    iv[at]! > 0 ? sign * prepared.weight[at]! * prepared.multiplier[at]! * chain.spot : 0,
  );
  const sums = exposureSums({ count, callPut, spot: chain.spot, strike, tte, iv, rate, dividend, weight });
  const gammaDollars = gexByContract(prepared);
  let [gex, grossGex] = [0, 0];
  for (const each of gammaDollars) {
    gex += each;
    grossGex += Math.abs(each);
  }
  return { dex: sums.delta, gex, grossGex, vex: sums.vanna * MARKET_UNITS.vanna, cex: sums.charm * MARKET_UNITS.charm };
}

/** GEX of each contract, dollars per 1 % move: sign * Gamma * contracts * multiplier * S^2 * 0.01. */
export function gexByContract({ chain, callPut, gamma, weight, multiplier }: PreparedChain): Float64Array {
  const scale = chain.spot * chain.spot * 0.01;
  return gamma.map((each, at) => callPut[at]! * each * weight[at]! * multiplier[at]! * scale);
}
