import { MertonColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { type Column, kernels, mapColumns } from './kernels.ts';

/** Options on an underlying whose price follows a diffusion with jumps, as columns. */
export interface JumpDiffusionColumns extends Omit<OptionColumns, 'callPut'> {
  /** Volatility of the diffusion without jumps, per square root of a year, >= 0. */
  readonly iv: Column;
  /** Expected number of jumps per year, >= 0. */
  readonly jumpIntensity: Column;
  /** Mean change of the logarithm of spot in one jump. */
  readonly jumpMean: Column;
  /** Standard deviation of the change of the logarithm of spot in one jump, >= 0. */
  readonly jumpVol: Column;
}

/** The results, as columns with one value per option. */
export interface JumpDiffusionResult {
  /** Risk-neutral probability that spot ends at or above the strike. */
  readonly probAbove: Float64Array;
  /** Risk-neutral probability that spot ends below the strike. The probability is a separate sum, so that even a tiny value is accurate. */
  readonly probBelow: Float64Array;
  readonly call: Float64Array;
  readonly put: Float64Array;
}

/**
 * Computes Merton's (1976) jump diffusion: the probabilities that spot ends above and below the strike, and the prices of European options.
 * The drift includes the compensator of the jumps. The results are NaN if `jumpIntensity * tte`, or its product with the mean factor of a
 * jump, is above 256. The error is at most 5 times what one rounding of each input and of the result can cause.
 * @throws RangeError if the length of a column is not `count`.
 */
export function merton(options: JumpDiffusionColumns): JumpDiffusionResult {
  const [probAbove, probBelow, call, put] = mapColumns(kernels.merton, options.count, MertonColumn, inputs(options), [
    MertonColumn.probAbove,
    MertonColumn.probBelow,
    MertonColumn.call,
    MertonColumn.put,
  ]);
  return { probAbove: probAbove!, probBelow: probBelow!, call: call!, put: put! };
}

/**
 * Computes only the probabilities of `merton`. The function takes two thirds of the time of `merton`.
 * @throws RangeError if the length of a column is not `count`.
 */
export function mertonProbabilities(
  options: JumpDiffusionColumns,
): Pick<JumpDiffusionResult, 'probAbove' | 'probBelow'> {
  const [probAbove, probBelow] = mapColumns(kernels.mertonProbabilities, options.count, MertonColumn, inputs(options), [
    MertonColumn.probAbove,
    MertonColumn.probBelow,
  ]);
  return { probAbove: probAbove!, probBelow: probBelow! };
}

/** Returns the input columns of the kernel. A caller's options may have further columns, for example columns of `OptionColumns`. */
function inputs(options: JumpDiffusionColumns): Record<string, Column> {
  const { spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol } = options;
  return { spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol };
}
