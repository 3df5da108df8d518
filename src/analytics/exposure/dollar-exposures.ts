import { StepMeter, type Steps } from '../../core/steps.ts';
import { MARKET_UNITS } from '../../math/black-scholes.ts';
import { PAIRS_MAX, pairExposures, partialSums } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { dayAheadOf, loadPairs } from './day-ahead.ts';
import { gexBySeries } from './gex-by-series.ts';
import { signProbability } from './sign-probability.ts';

/** Dealers' exposures over the whole chain, dollars. */
export interface Exposures {
  /** Delta-notional. It is never negative by the default convention, because long calls and short puts have positive deltas. */
  readonly dex: number;
  /** Net gamma, per 1 % move. */
  readonly gex: number;
  /** Sum of the absolute gamma exposures of all contracts, per 1 % move. */
  readonly grossGex: number;
  /** The probability that the sign of `gex` is right, 0 to 1 (see `signProbability`). */
  readonly signProbability: number;
  /** Change of delta-notional per vol point. */
  readonly vex: number;
  /** Change of delta-notional over the coming calendar day along the forward, without open strikes (see `dayAheadOf`). */
  readonly cex: number;
}

/** Returns the dealers' exposures over the whole chain. */
export function* exposuresOf(prepared: PreparedChain): Steps<Exposures> {
  const [priced] = yield* pricedExposures(prepared, [prepared.chain.spot], 'Summing up exposures');
  const { netOfAll, grossOfAll } = gexBySeries(prepared);
  return { ...priced!, gex: netOfAll, grossGex: grossOfAll, signProbability: signProbability(prepared) };
}

/** The number of pairs priced in a step of some 3 ms. A pair that is priced at several spots counts once for each spot. */
const STEP_PAIRS = 32_768;

/**
 * Returns the dealers' delta, vanna and charm exposure at prices, of the first `count` pairs. A strike keeps its volatility, and forwards
 * move with spot.
 */
export function* pricedExposures(
  prepared: PreparedChain,
  spots: readonly number[],
  message: string,
  count = prepared.pairs.count,
): Steps<Pick<Exposures, 'dex' | 'vex' | 'cex'>[]> {
  const ahead = dayAheadOf(prepared);
  const priced = spots.map(() => ({ partial: partialSums(), sums: { delta: 0, vanna: 0, change: 0 } }));
  const meter = new StepMeter(STEP_PAIRS);
  for (let from = 0; from < count; from += PAIRS_MAX) {
    const to = Math.min(from + PAIRS_MAX, count);
    const block = {};
    for (const [i, each] of priced.entries()) {
      if (meter.beginsNextStep(to - from)) yield { message };
      loadPairs(block, prepared, ahead, from, to, spots[i]!);
      each.sums = pairExposures(to - from, spots[i]!, each.partial);
    }
  }
  return priced.map(({ sums: { delta, vanna, change } }) => ({
    dex: delta,
    vex: vanna * MARKET_UNITS.vanna,
    cex: change,
  }));
}
