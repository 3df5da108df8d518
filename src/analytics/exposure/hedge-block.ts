import type { HedgeInputs } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import type { DayAhead } from './day-ahead.ts';

/** Columns with the inputs of `hedges` for a block of pairs. One step both fills and reads a block. */
export class HedgeBlock {
  private readonly columns;

  /** `rowsMax` is the largest number of pairs in a block. */
  constructor(rowsMax: number) {
    const column = () => new Float64Array(rowsMax);
    this.columns = {
      callPut: column(),
      iv: column(),
      carry: column(),
      factor: column(),
      laterTte: column(),
      laterDrift: column(),
      laterFactor: column(),
    };
  }

  /**
   * Fills the columns for the pairs [from, to) at a spot, and returns views of them. Each pair is represented by its out-of-the-money side.
   * A pair without a volatility has the volatility 0. `ahead` has one element for each series.
   */
  fill({ pairs, seriesIndex }: PreparedChain, ahead: readonly DayAhead[], spot: number, from: number, to: number) {
    const { callPut, iv, carry, factor, laterTte, laterDrift, laterFactor } = this.columns;
    const { contracts, strike } = pairs;
    for (let i = 0; i < to - from; i++) {
      callPut[i] = strike[from + i]! >= spot ? 1 : -1;
      iv[i] = pairs.iv[from + i]! || 0;
    }
    for (let first = from; first < to; ) {
      const index = seriesIndex[contracts[first]!]!;
      let end = first + 1;
      while (end < to && seriesIndex[contracts[end]!] === index) end++;
      const of = ahead[index]!;
      carry.fill(of.carry, first - from, end - from);
      factor.fill(of.factor, first - from, end - from);
      laterTte.fill(of.laterTte, first - from, end - from);
      laterDrift.fill(of.laterDrift, first - from, end - from);
      laterFactor.fill(of.laterFactor, first - from, end - from);
      first = end;
    }
    const filled = (column: Float64Array) => column.subarray(0, to - from);
    return {
      count: to - from,
      callPut: filled(callPut),
      spot,
      strike: strike.subarray(from, to),
      iv: filled(iv),
      tte: pairs.tte.subarray(from, to),
      carry: filled(carry),
      factor: filled(factor),
      laterTte: filled(laterTte),
      laterDrift: filled(laterDrift),
      laterFactor: filled(laterFactor),
    } satisfies HedgeInputs;
  }
}
