/**
 * The complete interface of the module. Columns are f64 in the caller's memory. If a kernel takes a block, its columns have the layout of
 * block.ts and the positions of columns.ts. Other columns are at the offsets that the caller gives. The caller must place all columns at or
 * above `heapBase()`, where the module's own data ends. The module allocates no memory and has no state. The result of a row depends only
 * on this row.
 */
import { BLOCK_ROWS, COLUMN } from './block';
import { Block } from './columns';

export { blackScholes, blackScholesPair } from './black-scholes';
export { readColumn, readNumbers } from './decimal-reader';
export { writeNumbers, writeRows } from './decimal-writer';
export { addPairExposures, hedges } from './exposures';
export { addGammaByStrike } from './gamma-by-strike';
export { addGammaLogProfile, addGammaProfile, logMoves } from './gamma-profile';
export { impliedVolatility } from './implied-volatility';
// The function takes p and returns x.
export { inverseCumulative } from './inverse-normal';
export { merton, mertonProbabilities } from './merton';
// The function takes x and returns p.
export { cumulative } from './normal';
export { readWholes } from './planes';
export { scanRows } from './row-scanner';
export {
  sliceBasis,
  sliceCenter,
  sliceErrors,
  sliceLogs,
  sliceNear,
  slicePenalty,
  sliceRows,
  sliceStep,
  sliceSums,
  sliceTilt,
} from './slice-model';

/** Returns the offset at which the data of the module ends. */
export function heapBase(): usize {
  return __heap_base;
}

/** Returns the number of rows in a block. */
export function blockRows(): i32 {
  return BLOCK_ROWS;
}

/** Returns the distance between two adjacent columns of a block, bytes. */
export function columnBytes(): usize {
  return COLUMN;
}

/** Returns the number of columns for which a block must have room. Kernels also write to columns that are neither inputs nor outputs. */
export function blockColumns(): i32 {
  return Block.columns;
}
