/**
 * The whole interface of the module. Columns are f64 in the caller's memory, inputs before outputs: in a block as in block.ts, at the
 * places of columns.ts, or at given offsets. The caller places them above `heapBase()`, where the module's own data ends. The module allocates nothing and has no state, and
 * the result of a row depends on that row alone.
 */
import { BLOCK_ROWS, COLUMN } from './block';

export { blackScholes, blackScholesPair } from './black-scholes';
export { addExposures } from './exposures';
export { addGammaByStrike } from './gamma-by-strike';
export { addGammaLogProfile, addGammaProfile, logMoves } from './gamma-profile';
export { impliedVolatility } from './implied-volatility';
// (p): x
export { inverseCumulative } from './inverse-normal';
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
