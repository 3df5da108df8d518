import { greeks, MARKET_UNITS } from '../../math/black-scholes.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexByContract } from './exposures.ts';

/**
 * What dealers hold at each strike, over all prepared series, dollars under the stated sign convention; a contract without a
 * volatility counts nothing but its contracts.
 */
export interface ExposuresByStrike {
  /** Ascending. */
  readonly strike: Float64Array;
  /** Per 1 % move: calls held long, puts short (negative). */
  readonly callGex: Float64Array;
  readonly putGex: Float64Array;
  /** Both together. */
  readonly netGex: Float64Array;
  /** Delta-notional, and what it gains per vol point and per calendar day, of both sides together. */
  readonly dex: Float64Array;
  readonly vex: Float64Array;
  readonly cex: Float64Array;
  /** Contracts, 0 where the feed gives none. */
  readonly callOpenInterest: Float64Array;
  readonly putOpenInterest: Float64Array;
  readonly callVolume: Float64Array;
  readonly putVolume: Float64Array;
}

export function exposuresByStrike(prepared: PreparedChain): ExposuresByStrike {
  const { chain, count, row, callPut, position, multiplier } = prepared;
  const gex = gexByContract(prepared);
  const strike = Float64Array.from(new Set(prepared.strike)).sort();
  const place = new Map(Array.from(strike, (each, at) => [each, at]));
  const column = () => new Float64Array(strike.length);
  const sums = {
    callGex: column(),
    putGex: column(),
    netGex: column(),
    dex: column(),
    vex: column(),
    cex: column(),
    callOpenInterest: column(),
    putOpenInterest: column(),
    callVolume: column(),
    putVolume: column(),
  };
  const { strike: strikes, tte, rate, dividend } = prepared;
  const iv = prepared.iv.map((each) => each || 0);
  const { delta, vanna, charm } = greeks({
    count,
    callPut,
    spot: chain.spot,
    strike: strikes,
    tte,
    iv,
    rate,
    dividend,
  });
  for (let at = 0; at < count; at++) {
    const to = place.get(strikes[at]!)!;
    const isCall = callPut[at] === 1;
    const dollars = position[at]! * multiplier[at]! * chain.spot;
    sums[isCall ? 'callGex' : 'putGex'][to]! += gex[at]!;
    sums.netGex[to]! += gex[at]!;
    sums[isCall ? 'callOpenInterest' : 'putOpenInterest'][to]! += chain.openInterest[row[at]!]! || 0;
    sums[isCall ? 'callVolume' : 'putVolume'][to]! += chain.volume[row[at]!]! || 0;
    if (iv[at] === 0) continue;
    sums.dex[to]! += dollars * delta[at]!;
    sums.vex[to]! += dollars * vanna[at]! * MARKET_UNITS.vanna;
    sums.cex[to]! += dollars * charm[at]! * MARKET_UNITS.charm;
  }
  return { strike, ...sums };
}
