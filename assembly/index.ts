/**
 * The whole interface. Columns are f64 in the caller's memory, at byte offsets, inputs before outputs; the caller keeps them
 * above `heapBase()`, where the module's own data ends. Nothing is allocated, no state is kept, and a row's result depends on
 * that row alone.
 */

// (count, callPut, spot, strike, tte, iv, rate, dividend, price, delta, gamma, vega, theta, rho, vanna, charm, volga)
export { blackScholes } from './black-scholes';
// (count, gamma, weight, strikeIndex, first, strikes, sums)
// (count, strike, tte, iv, rate, dividend, weight, reference, levels, moves, sums)
// (count, levels, reference, moves)
export { addGammaByStrike, addGammaProfile, logMoves } from './gamma-exposure';
// (count, callPut, price, spot, strike, tte, rate, dividend, iv)
export { impliedVolatility } from './implied-volatility';
// (p): x
export { inverseCumulative } from './inverse-normal';
// (count, spot, strike, tte, iv, rate, dividend, jumpIntensity, jumpMean, jumpVol, probAbove, probBelow, call, put)
export { merton } from './merton';
// (x): p
export { cumulative } from './normal';

export function heapBase(): usize {
  return __heap_base;
}
