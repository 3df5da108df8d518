/**
 * The whole interface of the module. Columns are f64 in the caller's memory. A kernel that takes a block expects the layout of block.ts,
 * with the columns at the positions of columns.ts. Other columns are at the offsets that the caller gives. The caller places all of them at
 * or above `heapBase()`, where the module's own data ends. The module allocates no memory and has no state. The result of a row depends on
 * that row alone.
 */
import { BLOCK_ROWS, COLUMN } from './block';

export { blackScholes, blackScholesPair } from './black-scholes';
export { addExposures, hedges } from './exposures';
export { addGammaByStrike } from './gamma-by-strike';
export { addGammaLogProfile, addGammaProfile, logMoves } from './gamma-profile';
export { impliedVolatility } from './implied-volatility';
// Takes p, returns x.
export { inverseCumulative } from './inverse-normal';
export { merton, mertonProbabilities } from './merton';
// Takes x, returns p.
export { cumulative } from './normal';

/** Returns the offset at which the module's own data ends. */
export function heapBase(): usize {
  return __heap_base;
}

/** Returns the number of rows of a block. */
export function blockRows(): i32 {
  return BLOCK_ROWS;
}

/** Returns the distance from one column of a block to the next, in bytes. */
export function columnBytes(): usize {
  return COLUMN;
}
