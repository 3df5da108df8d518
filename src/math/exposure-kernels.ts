import { BlackScholesColumn, ExposureColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { arenaColumn, type Column, checkLengths, inChunks, kernels } from './kernels.ts';

/** Options with a signed weight for each. Units as in `OptionColumns`. */
export interface WeightedOptionColumns extends OptionColumns {
  readonly weight: Column;
}

/** Sums of weight * Greek over all options. The Greeks are raw partial derivatives, as in `greeks`. */
export interface ExposureSums {
  readonly delta: number;
  readonly gamma: number;
  /** Sum of the absolute values of weight * gamma. */
  readonly grossGamma: number;
  readonly vanna: number;
  readonly charm: number;
}

/** The length of `partial`: two partial sums for each of five exposures. */
const PARTIAL_SUMS = 10;

/**
 * Computes the exposures of a chain in one pass, without writing columns of Greeks. A NaN in a row makes the sums NaN, even if the weight
 * of the row is 0. A caller may add a chain in several ranges of rows: `partial` carries the sums from one call to the next. If every range
 * but the last has an even number of rows, the result has the same bits as for the whole chain in one call.
 * @throws RangeError if the length of a column is not `count`.
 */
export function exposureSums(options: WeightedOptionColumns, partial: Float64Array = partialSums()): ExposureSums {
  const { count, callPut, spot, strike, tte, iv, rate, dividend, weight } = options;
  checkLengths(count, { weight });
  const weights = arenaColumn(ExposureColumn.weight);
  const sums = arenaColumn(ExposureColumn.sums);
  sums.set(partial);
  inChunks(count, BlackScholesColumn, { callPut, spot, strike, tte, iv, rate, dividend }, (block, start, end) => {
    if (typeof weight === 'number') weights.fill(weight);
    else weights.set(weight.subarray(start, end));
    kernels.addExposures(end - start, block, sums.byteOffset);
  });
  for (let i = 0; i < PARTIAL_SUMS; i++) partial[i] = sums[i]!;
  const [delta, gamma, grossGamma, vanna, charm] = [0, 2, 4, 6, 8].map((i) => partial[i]! + partial[i + 1]!);
  return { delta: delta!, gamma: gamma!, grossGamma: grossGamma!, vanna: vanna!, charm: charm! };
}

/** Returns the partial sums of no rows, for the first call of `exposureSums`. */
export function partialSums(): Float64Array {
  return new Float64Array(PARTIAL_SUMS);
}
