import { MARKET_UNITS } from '../../math/black-scholes.ts';
import { type ExposureSums, exposureSums, partialSums } from '../../math/exposure-kernels.ts';
import { CHUNK_ROWS } from '../../math/kernels.ts';
import { runToCompletion, StepMeter, type Steps } from '../../steps.ts';
import { type PreparedChain, slicePairs } from '../chain/prepared-chain.ts';
import { gexBySeries, gexScale } from './gex-by-series.ts';

/** Dealers' exposures over the whole chain, dollars. */
export interface Exposures {
  /**
   * Delta-notional, the value of the shares that have the same delta. By the default convention it is never negative: long calls and short
   * puts both have positive deltas.
   */
  readonly dex: number;
  /** Net gamma, per 1 % move. */
  readonly gex: number;
  /** Sum of the absolute gamma exposures of all contracts, per 1 % move. */
  readonly grossGex: number;
  /** Change of delta-notional per vol point. */
  readonly vex: number;
  /** Change of delta-notional per calendar day that passes. */
  readonly cex: number;
}

/** Returns the dealers' exposures over the whole chain. */
export function exposures(prepared: PreparedChain): Exposures {
  return runToCompletion(exposuresInSteps(prepared));
}

export function* exposuresInSteps(prepared: PreparedChain): Steps<Exposures> {
  const [priced] = yield* pricedExposuresInSteps(prepared, [prepared.chain.spot], 'Summing up exposures');
  const { netOfAll, grossOfAll } = gexBySeries(prepared);
  return { ...priced!, gex: netOfAll, grossGex: grossOfAll };
}

/**
 * The number of pairs in a block. All spots are computed for one block before the next block, so that its columns stay in the processor's
 * cache.
 */
const BLOCK_PAIRS = 2 * CHUNK_ROWS;
/** The number of pairs that are priced in a step of some 3 ms. A pair that is priced at n spots is n pairs here. */
const STEP_PAIRS = 32_768;

/**
 * Returns delta, vanna and charm exposure for each of `spots`, as if the price were at that spot. Each strike has the same volatility at
 * every spot, and forwards move in proportion to spot.
 */
export function* pricedExposuresInSteps(
  prepared: PreparedChain,
  spots: readonly number[],
  message: string,
): Steps<Pick<Exposures, 'dex' | 'vex' | 'cex'>[]> {
  const { count } = prepared.pairs;
  const sums = spots.map((spot) => new PricedSums(prepared, spot));
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
 * Sums of the exposures at one spot, to which blocks of pairs are added. Only the out-of-the-money side of a pair is priced. Parity gives
 * the other side: the delta of a call is the delta of its put plus e^(-qT), and the charm of a call is the charm of its put plus q e^(-qT).
 */
class PricedSums {
  private readonly partial = partialSums();
  private priced: ExposureSums | undefined;
  private delta = 0;
  private charm = 0;

  constructor(
    private readonly prepared: PreparedChain,
    private readonly spot: number,
  ) {}

  /** Adds the pairs [from, to). The number of pairs must be a multiple of `CHUNK_ROWS`, except in the last call. */
  add(from: number, to: number): void {
    const { pairs, callPut, position, multiplier } = this.prepared;
    const { contracts, strike, tte, dividend } = pairs;
    const { spot } = this;
    let { delta, charm } = this;
    let discount = 1;
    for (let pair = from; pair < to; pair++) {
      // The discount is computed once for each series.
      if (pair === from || tte[pair] !== tte[pair - 1] || dividend[pair] !== dividend[pair - 1]) {
        discount = Math.exp(-dividend[pair]! * tte[pair]!);
      }
      const side = strike[pair]! >= spot ? 1 : -1;
      const i = pair - from;
      SIDE[i] = side;
      IV[i] = 0;
      WEIGHT[i] = 0;
      // A contract without a volatility has no exposure.
      if (!(pairs.iv[pair]! > 0)) continue;
      IV[i] = pairs.iv[pair]!;
      let net = 0;
      let other = 0;
      for (let contract = contracts[pair]!; contract < contracts[pair + 1]!; contract++) {
        const dollars = position[contract]! * multiplier[contract]! * spot;
        net += dollars;
        if (callPut[contract] !== side) other += callPut[contract]! * dollars;
      }
      WEIGHT[i] = net;
      delta += other * discount;
      charm += other * discount * dividend[pair]!;
    }
    [this.delta, this.charm] = [delta, charm];
    const count = to - from;
    const columns = {
      callPut: SIDE.subarray(0, count),
      iv: IV.subarray(0, count),
      weight: WEIGHT.subarray(0, count),
    };
    this.priced = exposureSums({ ...slicePairs(pairs, from, to), ...columns, spot }, this.partial);
  }

  exposures(): Pick<Exposures, 'dex' | 'vex' | 'cex'> {
    const { delta, vanna, charm } = this.priced ?? { delta: 0, vanna: 0, charm: 0 };
    return {
      dex: delta + this.delta,
      vex: vanna * MARKET_UNITS.vanna,
      cex: (charm + this.charm) * MARKET_UNITS.charm,
    };
  }
}

/** Columns of the current block. They are filled and read within one step. */
const [SIDE, IV, WEIGHT] = [BLOCK_PAIRS, BLOCK_PAIRS, BLOCK_PAIRS].map((rows) => new Float64Array(rows)) as [
  Float64Array,
  Float64Array,
  Float64Array,
];

/** Returns the GEX of each contract, dollars per 1 % move: gamma * contracts held * multiplier * spot^2 * 0.01. */
export function gexByContract({
  chain,
  count,
  gamma,
  position,
  multiplier,
}: Pick<PreparedChain, 'chain' | 'count' | 'gamma' | 'position' | 'multiplier'>): Float64Array {
  const scale = gexScale(chain);
  const gex = new Float64Array(count);
  for (let i = 0; i < count; i++) gex[i] = position[i]! * gamma[i]! * multiplier[i]! * scale;
  return gex;
}
