import { ImpliedVolatilityColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { arenaColumn, type Column, kernels, mapColumns, mapRow } from './kernels.ts';

/**
 * Options with their prices, as columns of `count` rows. If a column is given as a number, every row has this value. The units are the
 * units of `OptionColumns`.
 */
export interface PricedOptionColumns extends Omit<OptionColumns, 'iv'> {
  readonly price: Column;
}

/**
 * Returns the volatility (0.2 = 20 %) at which Black-Scholes-Merton gives each price. The result is 0 if the price is at or below the
 * discounted intrinsic value. The result is NaN if no volatility gives the price: if the price is at or above the largest possible value of
 * the option (S e^(-qT) for a call, K e^(-rT) for a put), if an input is not finite, or if spot, strike or tte is not positive.
 *
 * Accuracy: the error is at most 0.9 times the change that results from rounding each input once and the volatility once. The error was
 * measured on 41,000 rows. The rows are random options and a grid: T from 1e-4 to 10 years, iv from 0.01 to 5, strikes up to 20 standard
 * deviations from the forward.
 * @throws RangeError if the length of a column is not `count`.
 */
export function impliedVolatility(options: PricedOptionColumns): Float64Array {
  const { count, callPut, price, spot, strike, tte, rate, dividend } = options;
  const inputs = { callPut, price, spot, strike, tte, rate, dividend };
  return mapColumns(kernels.impliedVolatility, count, ImpliedVolatilityColumn, inputs, [
    ImpliedVolatilityColumn.iv,
  ])[0]!;
}

/** Returns the same for one option with a spot of 1, a tte of 1 and no rates: the standard deviation of the log-return. */
export function impliedVolatilityOf(callPut: number, price: number, strike: number): number {
  mapRow(kernels.impliedVolatility, [callPut, price, 1, strike, 1, 0, 0]);
  return IV[0]!;
}

const IV = arenaColumn(ImpliedVolatilityColumn.iv);
