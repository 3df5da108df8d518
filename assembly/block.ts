/**
 * The layout of rows: a block of columns, one after the other at a fixed distance, so that one pointer and constant offsets reach a whole
 * row (sixteen pointers would not fit into the registers). Kernels take rows by twos or fours. They may read and write the rows after the
 * last one, up to a multiple of four: the block has room for these rows.
 */
export const BLOCK_ROWS: i32 = 1024;
/**
 * Bytes of a column: a cache line more than its rows. At a multiple of 4,096 bytes, all columns would compete for the same few places in
 * the cache.
 */
export const COLUMN: usize = 1024 * 8 + 64;
/** Bytes of two doubles. */
export const PAIR: usize = 16;

export function rowAt(block: usize, index: i32): usize {
  return block + ((<usize>index) << 3);
}
