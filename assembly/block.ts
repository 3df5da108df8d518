/**
 * The number of rows of a block. A block is the memory of the columns, which follow each other at a fixed distance. So one pointer and
 * constant offsets reach all values of a row. If each column had a pointer, sixteen pointers would not fit into the registers.
 *
 * Kernels compute two rows at a time. If the number of rows is odd, kernels also read and write the row after the last row. The block has
 * room for this row.
 */
export const BLOCK_ROWS: i32 = 1024;
/**
 * The number of bytes from one column to the next: the rows of the column and one cache line. If this distance were a multiple of 4,096
 * bytes, the same row of all columns would compete for the same few places in the cache.
 */
export const COLUMN: usize = 1024 * 8 + 64;
/** The number of rows that go through all passes of a kernel together. Their values fit into the first-level cache. */
export const STRIP: i32 = 128;
/** The number of bytes of two doubles. */
export const PAIR: usize = 16;

/** Returns the address of a row in the first column. */
export function rowAt(block: usize, index: i32): usize {
  return block + ((<usize>index) << 3);
}
