import { MertonColumn } from '../../assembly/columns.ts';
import { type Column, kernels, mapColumns } from './kernels.ts';

/** Options on a spot that diffuses and jumps, as columns of `count` rows. A number stands for a column with that value in every row. */
export interface JumpDiffusionColumns {
  readonly count: number;
  /** > 0. */
  readonly spot: Column;
  /** > 0. */
  readonly strike: Column;
  /** Years to expiry, >= 0. */
  readonly tte: Column;
  /** Volatility of the diffusion alone, per square root of a year, >= 0. */
  readonly iv: Column;
  /** Continuously compounded, per year. */
  readonly rate: Column;
  /** Continuous yield, per year. */
  readonly dividend: Column;
  /** Expected jumps per year, >= 0. */
  readonly jumpIntensity: Column;
  /** Mean of the jumps in the logarithm of spot. */
  readonly jumpMean: Column;
  /** Standard deviation of the jumps in the logarithm of spot, >= 0. */
  readonly jumpVol: Column;
}

/** Columns of `count` rows. */
export interface JumpDiffusionResult {
  /** Risk-neutral probability of ending at or above the strike. */
  readonly probAbove: Float64Array;
  /** Risk-neutral probability of ending below it. Summed separately, so that it is accurate even if it is tiny. */
  readonly probBelow: Float64Array;
  readonly call: Float64Array;
  readonly put: Float64Array;
}

/**
 * Merton's (1976) jump diffusion: probabilities of ending on either side of the strike, and European prices. The drift includes the
 * compensator of the jumps. NaN if more than 256 jumps are expected by expiry (`jumpIntensity * tte`, also weighted by the mean jump
 * factor). Accuracy: within 5 times the effect of one rounding of each input (3,000 rows, up to 256 expected jumps), within 1.6 times up to
 * 60 jumps.
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
 * Only the probabilities of `merton`, in two thirds of the time.
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

function inputs(options: JumpDiffusionColumns): Record<string, Column> {
  const { spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol } = options;
  return { spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol };
}
