import type { OptionColumns } from './black-scholes.ts';
import { type Column, kernels, mapColumns } from './kernels.ts';

/** Priced options as columns of `count` rows; a number stands for a column of it. Units as in OptionColumns. */
export interface PricedOptionColumns extends Omit<OptionColumns, 'iv'> {
  readonly price: Column;
}

/**
 * The volatility (0.2 = 20 %) at which Black-Scholes-Merton gives each price. 0 where the price is at or below the discounted
 * intrinsic value. NaN means that no volatility gives this price: it is at or above what the option can be worth at most
 * (S e^(-qT) for a call, K e^(-rT) for a put), or an input is not finite, or spot, strike or tte is not positive. Accuracy:
 * within 0.9 times what one rounding of each input can do, out to 20 standard deviations, T 1e-4 to 10, iv 0.01 to 5 (41,000 rows).
 * @throws RangeError where a column's length is not `count`.
 */
export function impliedVolatility(options: PricedOptionColumns): Float64Array {
  const { count, callPut, price, spot, strike, tte, rate, dividend } = options;
  const inputs = { callPut, price, spot, strike, tte, rate, dividend };
  return mapColumns(kernels.impliedVolatility, count, inputs, [7])[0]!;
}
