import { BlackScholesColumn, ExposureColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { arenaColumn, type Column, checkLengths, inChunks, kernels } from './kernels.ts';

/** Options as for `greeks`, with a signed weight for each. */
export interface WeightedOptionColumns extends OptionColumns {
  readonly weight: Column;
}

/** Sums of weight * Greek over all options. The Greeks are raw partial derivatives, as in `greeks`. */
export interface ExposureSums {
  readonly delta: number;
  readonly gamma: number;
  /** Sum of absolute values. */
  readonly grossGamma: number;
  readonly vanna: number;
  readonly charm: number;
}

/** Two partial sums of each exposure. */
const PARTIAL_SUMS = 10;

/**
 * Exposures of a chain in one pass, without columns of Greeks in between. A NaN in a row makes the sums NaN, whatever the row's weight.
 * `partial` carries the sums from one part of a chain to the next. If every part but the last has an even number of rows, the result is bit
 * for bit the same as for the whole chain at once.
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

/** Partial sums before the first part of a chain. */
export function partialSums(): Float64Array {
  return new Float64Array(PARTIAL_SUMS);
}
