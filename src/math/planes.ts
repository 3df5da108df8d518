import { kernels } from './kernels.ts';
import { memoryBytes, SCRATCH } from './text-area.ts';

/** The number of rows that a kernel call reads. */
const ROWS = 16_384;
const PLANES_MAX = 8;
const written = new Float64Array(memoryBytes.buffer, SCRATCH + PLANES_MAX * ROWS, ROWS);

/**
 * Writes the whole numbers that are stored from `offset` on, as `width` planes of one byte per row, to `values`: (whole + base) / divisor,
 * or `gap` for the whole number 0. The first plane has the lowest bytes. Eight planes are the bytes of a float64, with every bit.
 */
export function readWholes(
  bytes: Uint8Array,
  offset: number,
  width: number,
  base: number,
  divisor: number,
  gap: number,
  values: Float64Array,
): Float64Array {
  const count = values.length;
  for (let row = 0; row < count; row += ROWS) {
    const rows = Math.min(ROWS, count - row);
    for (let plane = 0, from = offset + row; plane < width; plane++, from += count) {
      memoryBytes.set(bytes.subarray(from, from + rows), SCRATCH + plane * ROWS);
    }
    kernels.readWholes(rows, SCRATCH, ROWS, width, base, divisor, gap, written.byteOffset);
    values.set(written.subarray(0, rows), row);
  }
  return values;
}
