import { ImpliedVolatilityColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { type Column, kernels, mapColumns } from './kernels.ts';

/** Priced options as columns of `count` rows. A number stands for a column with that value in every row. Units as in `OptionColumns`. */
export interface PricedOptionColumns extends Omit<OptionColumns, 'iv'> {
  readonly price: Column;
}

/**
 * The volatility (0.2 = 20 %) at which Black-Scholes-Merton gives each price. 0 if the price is at or below the discounted intrinsic value.
 * NaN if no volatility gives the price: the price is at or above the largest possible value of the option (S e^(-qT) for a call, K e^(-rT)
 * for a put), an input is not finite, or spot, strike or tte is not positive. Accuracy: within 0.9 times the effect of one rounding of each
 * input, out to 20 standard deviations, T 1e-4 to 10, iv 0.01 to 5 (41,000 rows).
 * @throws RangeError if the length of a column is not `count`.
 */
export function impliedVolatility(options: PricedOptionColumns): Float64Array {
  const { count, callPut, price, spot, strike, tte, rate, dividend } = options;
  const inputs = { callPut, price, spot, strike, tte, rate, dividend };
  return mapColumns(kernels.impliedVolatility, count, ImpliedVolatilityColumn, inputs, [
    ImpliedVolatilityColumn.iv,
  ])[0]!;
}
