/**
 * The whole interface of the module. Columns are f64 in the caller's memory, inputs before outputs: in a block as in block.ts, or at given
 * offsets. The caller places them above `heapBase()`, where the module's own data ends. The module allocates nothing and has no state, and
 * the result of a row depends on that row alone.
 */
import { BLOCK_ROWS, COLUMN } from './block';

// callPut, spot, strike, tte, iv, rate, dividend, discount, dividendDiscount, price, delta, theta, rho, charm, gamma, vega, vanna,
// volga; then of the put of a pair: price, delta, theta, rho, charm
export { blackScholes, blackScholesPair } from './black-scholes';
// as for blackScholes, and weight at 18; at the offset `sums`: two partial sums each of delta, gamma, gross gamma, vanna, charm
export { addExposures } from './exposures';
// (count, gamma, weight, strikeIndex, first, strikes, sums)
export { addGammaByStrike } from './gamma-by-strike';
// strike, tte, iv, rate, dividend, weight
export { addGammaLogProfile, addGammaProfile, logMoves } from './gamma-profile';
// callPut, price, spot, strike, tte, rate, dividend, iv
export { impliedVolatility } from './implied-volatility';
// (p): x
export { inverseCumulative } from './inverse-normal';
// spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol, probAbove, probBelow, call, put
export { merton, mertonProbabilities } from './merton';
// (x): p
export { cumulative } from './normal';

export function heapBase(): usize {
  return __heap_base;
}

export function blockRows(): i32 {
  return BLOCK_ROWS;
}

export function columnBytes(): usize {
  return COLUMN;
}
