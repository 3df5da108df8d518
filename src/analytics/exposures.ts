import { greeks, inMarketUnits } from '../math/black-scholes.ts';
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
  const iv = prepared.iv.map((each) => each || 0);
  const { delta, vanna, charm } = inMarketUnits(
    greeks({ count, callPut, spot: chain.spot, strike, tte, iv, rate, dividend }),
  );
  const gammaDollars = gexByContract(prepared);
  const sums = { dex: 0, gex: 0, grossGex: 0, vex: 0, cex: 0 };
  for (let at = 0; at < count; at++) {
    sums.gex += gammaDollars[at]!;
    sums.grossGex += Math.abs(gammaDollars[at]!);
    if (!(iv[at]! > 0)) continue;
    const notional = callPut[at]! * prepared.weight[at]! * prepared.multiplier[at]! * chain.spot;
    sums.dex += notional * delta[at]!;
    sums.vex += notional * vanna[at]!;
    sums.cex += notional * charm[at]!;
  }
  return sums;
}

/** GEX of each contract, dollars per 1 % move: sign * Gamma * contracts * multiplier * S^2 * 0.01. */
export function gexByContract({ chain, callPut, gamma, weight, multiplier }: PreparedChain): Float64Array {
  const scale = chain.spot * chain.spot * 0.01;
  return gamma.map((each, at) => callPut[at]! * each * weight[at]! * multiplier[at]! * scale);
}
