import { callPutGreeks, MARKET_UNITS } from '../../math/black-scholes.ts';
import { byRange, runToCompletion, type Steps } from '../../steps.ts';
import { type PreparedChain, slicePairs } from '../chain/prepared-chain.ts';
import { gexScale } from './gex-by-series.ts';
import { strikeIndexInSteps } from './strike-index.ts';

/**
 * Dealers' exposures at each strike, over all prepared series, dollars, under the prepared chain's sign convention. A contract without a
 * volatility counts in open interest and volume only.
 */
export interface ExposuresByStrike {
  /** Ascending. */
  readonly strike: Float64Array;
  /** Per 1 % move. By the default convention, calls are held long and puts short (negative). */
  readonly callGex: Float64Array;
  readonly putGex: Float64Array;
  /** Calls and puts together. */
  readonly netGex: Float64Array;
  /** Delta-notional, and its gain per vol point and per calendar day, of calls and puts together. */
  readonly dex: Float64Array;
  readonly vex: Float64Array;
  readonly cex: Float64Array;
  /** Contracts. 0 if the feed gives none. */
  readonly callOpenInterest: Float64Array;
  readonly putOpenInterest: Float64Array;
  readonly callVolume: Float64Array;
  readonly putVolume: Float64Array;
}

/** Pairs priced in a step of some 3 ms. */
const STEP_PAIRS = 16_384;
const MESSAGE = 'Summing up exposures by strike';

export function exposuresByStrike(prepared: PreparedChain): ExposuresByStrike {
  return runToCompletion(exposuresByStrikeInSteps(prepared));
}

export function* exposuresByStrikeInSteps(prepared: PreparedChain): Steps<ExposuresByStrike> {
  const { chain, row, callPut, position, multiplier, gamma, pairs } = prepared;
  const { strike, index } = yield* strikeIndexInSteps(pairs);
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
  const scale = gexScale(chain);
  if (pairs.count > STEP_PAIRS) yield { message: MESSAGE };
  yield* byRange(pairs.count, STEP_PAIRS, MESSAGE, (from, to) => {
    const block = slicePairs(pairs, from, to);
    for (let i = 0; i < block.count; i++) IV[i] = pairs.iv[from + i]! || 0;
    const { call, put } = callPutGreeks({ ...block, spot: chain.spot, iv: IV.subarray(0, block.count) });
    for (let pair = from; pair < to; pair++) {
      const [to, greek] = [index[pair]!, pair - from];
      for (let i = pairs.contracts[pair]!; i < pairs.contracts[pair + 1]!; i++) {
        const isCall = callPut[i] === 1;
        const gex = position[i]! * gamma[i]! * multiplier[i]! * scale;
        const openInterest = chain.openInterest[row[i]!]! || 0;
        const volume = chain.volume[row[i]!]! || 0;
        sums.netGex[to]! += gex;
        if (isCall) {
          sums.callGex[to]! += gex;
          sums.callOpenInterest[to]! += openInterest;
          sums.callVolume[to]! += volume;
        } else {
          sums.putGex[to]! += gex;
          sums.putOpenInterest[to]! += openInterest;
          sums.putVolume[to]! += volume;
        }
        if (IV[greek] === 0) continue;
        const dollars = position[i]! * multiplier[i]! * chain.spot;
        const { delta, vanna, charm } = isCall ? call : put;
        sums.dex[to]! += dollars * delta[greek]!;
        sums.vex[to]! += dollars * vanna[greek]! * MARKET_UNITS.vanna;
        sums.cex[to]! += dollars * charm[greek]! * MARKET_UNITS.charm;
      }
    }
  });
  return { strike, ...sums };
}

/** Volatilities of the current pairs. Filled and read within one step. */
const IV = new Float64Array(STEP_PAIRS);

/** Net GEX of all contracts at each of the given strikes, dollars per 1 % move. */
export function netGexAt(prepared: PreparedChain, strikes: readonly number[]): number[] {
  const { chain, strike, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  const wanted = new Map([...new Set(strikes)].map((each, i) => [each, i]));
  const net = new Float64Array(wanted.size);
  for (let i = 0; i < strike.length; i++) {
    const to = wanted.get(strike[i]!);
    if (to !== undefined) net[to]! += position[i]! * gamma[i]! * multiplier[i]! * scale;
  }
  return strikes.map((each) => net[wanted.get(each)!]!);
}
