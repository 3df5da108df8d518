import { recordOf } from '../../core/record-of.ts';
import type { HedgeInputs } from '../../math/exposure-kernels.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type DayAhead, SERIES_INPUTS } from './day-ahead.ts';

const FILLED = ['callPut', 'iv', ...SERIES_INPUTS] as const;

/** Columns with the inputs of `hedges` for a block of pairs. A block is filled and read within one step. */
export class HedgeBlock {
  private readonly columns;

  /** `rowsMax` is the largest number of pairs in a block. */
  constructor(rowsMax: number) {
    this.columns = recordOf(FILLED, () => new Float64Array(rowsMax));
  }

  /**
   * Fills the columns for the pairs [from, to) at a spot, and returns views of them. Each pair is represented by its out-of-the-money side.
   * A pair without a volatility has the volatility 0. `ahead` has one element for each series.
   */
  fill({ pairs, seriesIndex }: PreparedChain, ahead: readonly DayAhead[], spot: number, from: number, to: number) {
    const { callPut, iv } = this.columns;
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
      for (const name of SERIES_INPUTS) this.columns[name].fill(of[name], first - from, end - from);
      first = end;
    }
    return {
      count: to - from,
      spot,
      strike: strike.subarray(from, to),
      tte: pairs.tte.subarray(from, to),
      ...recordOf(FILLED, (name) => this.columns[name].subarray(0, to - from)),
    } satisfies HedgeInputs;
  }
}
