import { StepMeter, type Steps } from '../../core/steps.ts';
import { MARKET_UNITS } from '../../math/black-scholes.ts';
import { exposureSums, type Hedges, partialSums } from '../../math/exposure-kernels.ts';
import { CHUNK_ROWS } from '../../math/kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type DayAhead, dayAheadOf, HedgeBlock } from './day-ahead.ts';
import { gexBySeries } from './gex-by-series.ts';

/** Dealers' exposures over the whole chain, dollars. */
export interface Exposures {
  /** Delta-notional. It is never negative by the default convention, because long calls and short puts have positive deltas. */
  readonly dex: number;
  /** Net gamma, per 1 % move. */
  readonly gex: number;
  /** Sum of the absolute gamma exposures of all contracts, per 1 % move. */
  readonly grossGex: number;
  /** Change of delta-notional per vol point. */
  readonly vex: number;
  /** Expected change of delta-notional over the coming calendar day (see `dayAheadOf`). */
  readonly cex: number;
}

/** Returns the dealers' exposures over the whole chain. */
export function* exposuresOf(prepared: PreparedChain): Steps<Exposures> {
  const [priced] = yield* pricedExposures(prepared, [prepared.chain.spot], 'Summing up exposures');
  const { netOfAll, grossOfAll } = gexBySeries(prepared);
  return { ...priced!, gex: netOfAll, grossGex: grossOfAll };
}

/** The number of pairs in a block. Each block is priced at all spots in turn, so its columns stay in the processor's cache. */
const BLOCK_PAIRS = 2 * CHUNK_ROWS;
/** The number of pairs priced in a step of some 3 ms. A pair that is priced at several spots counts once for each spot. */
const STEP_PAIRS = 32_768;

/** Returns the dealers' delta, vanna and charm exposure at prices. A strike keeps its volatility, and forwards move with spot. */
export function* pricedExposures(
  prepared: PreparedChain,
  spots: readonly number[],
  message: string,
): Steps<Pick<Exposures, 'dex' | 'vex' | 'cex'>[]> {
  const { count } = prepared.pairs;
  const ahead = dayAheadOf(prepared);
  const sums = spots.map((spot) => new PricedSums(prepared, ahead, spot));
  const meter = new StepMeter(STEP_PAIRS);
  for (let from = 0; from < count; from += BLOCK_PAIRS) {
    const to = Math.min(from + BLOCK_PAIRS, count);
    for (const each of sums) {
      if (meter.beginsNextStep(to - from)) yield { message };
      each.add(from, to);
    }
  }
  return sums.map((each) => each.exposures());
}

/**
 * Exposure sums at one spot. Only the out-of-the-money side of a pair is priced. By put-call parity, a call's delta is its put's delta plus
 * a factor, which is `e^(-qT)` now and `laterFactor` a day later.
 */
class PricedSums {
  private readonly partial = partialSums();
  private priced: Hedges<number> | undefined;
  private delta = 0;
  private change = 0;

  constructor(
    private readonly prepared: PreparedChain,
    private readonly ahead: readonly DayAhead[],
    private readonly spot: number,
  ) {}

  /** Adds the pairs [from, to). The number of pairs must be a multiple of `CHUNK_ROWS`, except in the last call. */
  add(from: number, to: number): void {
    const { pairs, callPut, position, multiplier } = this.prepared;
    const { contracts } = pairs;
    const { spot } = this;
    let { delta, change } = this;
    const priced = BLOCK.fill(this.prepared, this.ahead, spot, from, to);
    for (let pair = from; pair < to; pair++) {
      const i = pair - from;
      WEIGHT[i] = 0;
      // A contract without a volatility has no exposure.
      if (priced.iv[i] === 0) continue;
      const side = priced.callPut[i]!;
      let net = 0;
      let other = 0;
      for (let contract = contracts[pair]!; contract < contracts[pair + 1]!; contract++) {
        const dollars = position[contract]! * multiplier[contract]! * spot;
        net += dollars;
        if (callPut[contract] !== side) other += callPut[contract]! * dollars;
      }
      WEIGHT[i] = net;
      delta += other * priced.factor[i]!;
      change += other * (priced.laterFactor[i]! - priced.factor[i]!);
    }
    [this.delta, this.change] = [delta, change];
    this.priced = exposureSums({ ...priced, weight: WEIGHT.subarray(0, to - from) }, this.partial);
  }

  exposures(): Pick<Exposures, 'dex' | 'vex' | 'cex'> {
    const { delta, vanna, change } = this.priced ?? { delta: 0, vanna: 0, change: 0 };
    return { dex: delta + this.delta, vex: vanna * MARKET_UNITS.vanna, cex: change + this.change };
  }
}

const BLOCK = new HedgeBlock(BLOCK_PAIRS);
/** Dealers' dollar positions in the current block of pairs. The column is filled and read within one step. */
const WEIGHT = new Float64Array(BLOCK_PAIRS);
