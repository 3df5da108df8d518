/**
 * Where rows are: a block of columns, one behind the other at a fixed distance, so that one pointer and constant offsets reach a
 * whole row (sixteen pointers would not fit the registers). Kernels take rows by twos or fours and may read and
 * write those after the last, up to a multiple of four, which the block has room for.
 */
export const BLOCK_ROWS: i32 = 1024;
/** A cache line more than the rows: at a multiple of 4,096 bytes all columns would compete for the same few places in the cache. */
export const COLUMN: usize = 1024 * 8 + 64;
/** Two doubles. */
export const PAIR: usize = 16;

export function rowAt(block: usize, index: i32): usize {
  return block + ((<usize>index) << 3);
}
