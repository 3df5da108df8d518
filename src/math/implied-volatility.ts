import { ImpliedVolatilityColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { type Column, kernels, mapColumns } from './kernels.ts';

/**
 * Options with their prices, as columns of `count` rows. If a column is given as a number, every row has this value. The units are the
 * units of `OptionColumns`.
 */
export interface PricedOptionColumns extends Omit<OptionColumns, 'iv'> {
  readonly price: Column;
}

/**
 * Returns the volatility (0.2 = 20 %) at which Black-Scholes-Merton gives each price: 0 for a price at or below the discounted intrinsic value,
 * and NaN for a price at or above the option's largest value (S e^(-qT) for a call, K e^(-rT) for a put), an input that is not finite, or a
 * spot, strike or tte that is not positive. The error is at most 0.9 times what one rounding of each input and of the result can cause.
 * @throws RangeError if the length of a column is not `count`.
 */
export function impliedVolatility(options: PricedOptionColumns): Float64Array {
  const { count, callPut, price, spot, strike, tte, rate, dividend } = options;
  const inputs = { callPut, price, spot, strike, tte, rate, dividend };
  return mapColumns(kernels.impliedVolatility, count, ImpliedVolatilityColumn, inputs, [
    ImpliedVolatilityColumn.iv,
  ])[0]!;
}
