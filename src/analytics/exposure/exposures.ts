import { MARKET_UNITS } from '../../math/black-scholes.ts';
import { exposureSums } from '../../math/exposures.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

/** What dealers hold over the whole chain, dollars. */
export interface Exposures {
  /** Delta-notional. Never negative under the default convention: calls held long, puts short, both positive deltas. */
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
  const { dex, vex, cex } = pricedExposures(prepared, prepared.chain.spot);
  let [gex, grossGex] = [0, 0];
  const gammaDollars = gexByContract(prepared);
  for (let at = 0; at < gammaDollars.length; at++) {
    gex += gammaDollars[at]!;
    grossGex += Math.abs(gammaDollars[at]!);
  }
  return { dex, gex, grossGex, vex, cex };
}

/**
 * Delta, vanna and charm exposure were spot at `spot`: volatilities stay with their strikes, forwards move in proportion.
 *
 * Of a pair the side out of the money is priced. The other follows by parity: a call's delta is its put's and e^(-qT), its charm
 * its put's and q e^(-qT).
 */
export function pricedExposures(
  { pairs, callPut, position, multiplier }: PreparedChain,
  spot: number,
): Pick<Exposures, 'dex' | 'vex' | 'cex'> {
  const { count, contracts, strike, tte, dividend } = pairs;
  const priced = new Float64Array(count);
  const iv = new Float64Array(count);
  const held = new Float64Array(count);
  let [delta, charm, discount] = [0, 0, 1];
  for (let pair = 0; pair < count; pair++) {
    // One exponential a series.
    if (tte[pair] !== tte[pair - 1] || dividend[pair] !== dividend[pair - 1]) {
      discount = Math.exp(-dividend[pair]! * tte[pair]!);
    }
    const side = strike[pair]! >= spot ? 1 : -1;
    priced[pair] = side;
    // A contract with no volatility has no exposure.
    if (!(pairs.iv[pair]! > 0)) continue;
    iv[pair] = pairs.iv[pair]!;
    let net = 0;
    let other = 0;
    for (let at = contracts[pair]!; at < contracts[pair + 1]!; at++) {
      const dollars = position[at]! * multiplier[at]! * spot;
      net += dollars;
      if (callPut[at] !== side) other += callPut[at]! * dollars;
    }
    held[pair] = net;
    delta += other * discount;
    charm += other * discount * dividend[pair]!;
  }
  const sums = exposureSums({ ...pairs, callPut: priced, spot, iv, weight: held });
  return {
    dex: sums.delta + delta,
    vex: sums.vanna * MARKET_UNITS.vanna,
    cex: (sums.charm + charm) * MARKET_UNITS.charm,
  };
}

/** GEX of each contract, dollars per 1 % move: Gamma * contracts held * multiplier * S^2 * 0.01. */
export function gexByContract({
  chain,
  count,
  gamma,
  position,
  multiplier,
}: Pick<PreparedChain, 'chain' | 'count' | 'gamma' | 'position' | 'multiplier'>): Float64Array {
  const scale = chain.spot * chain.spot * 0.01;
  const gex = new Float64Array(count);
  for (let at = 0; at < count; at++) gex[at] = position[at]! * gamma[at]! * multiplier[at]! * scale;
  return gex;
}
