import { kernels } from './kernels.ts';
import { memoryBytes, SCRATCH } from './text-area.ts';

/** The number of rows that a kernel call reads. */
const ROWS = 16_384;
const columns = [0, 1, 2, 3].map((i) => new Float64Array(memoryBytes.buffer, SCRATCH + i * 8 * ROWS, ROWS));
const [first, second, third, written] = columns as [Float64Array, Float64Array, Float64Array, Float64Array];

/** The layout of a column: `count` rows of `width` planes of bytes, the lowest first, from `offset` on. */
export type PlaneLayout = Readonly<{ offset: number; count: number; width: number }>;

/** Returns the whole numbers in planes as (whole + base) / divisor. If `hasGaps` is true, the whole number 0 gives NaN. */
export function readWholes(
  bytes: Uint8Array,
  layout: PlaneLayout,
  base: number,
  divisor: number,
  hasGaps: boolean,
): Float64Array {
  return readPlanes(bytes, layout, (rows) =>
    kernels.readWholes(rows, SCRATCH, ROWS, layout.width, base, divisor, hasGaps, written.byteOffset),
  );
}

/** Returns the float64 in eight planes, with every bit. */
export function readFloats(bytes: Uint8Array, layout: PlaneLayout): Float64Array {
  return readPlanes(bytes, layout, (rows) => kernels.readFloats(rows, SCRATCH, ROWS, written.byteOffset));
}

function readPlanes(
  bytes: Uint8Array,
  { offset, count, width }: PlaneLayout,
  read: (rows: number) => void,
): Float64Array {
  const values = new Float64Array(count);
  for (let row = 0; row < count; row += ROWS) {
    const rows = Math.min(ROWS, count - row);
    for (let plane = 0; plane < width; plane++) {
      const from = offset + plane * count + row;
      memoryBytes.set(bytes.subarray(from, from + rows), SCRATCH + plane * ROWS);
    }
    read(rows);
    values.set(written.subarray(0, rows), row);
  }
  return values;
}

/** Merges two runs of numbers, those of calls and then those of the other rows, into rows with the sides `callPut` (positive: call). */
export function mergeSides(callPut: Float64Array, runs: Float64Array, calls: number): Float64Array {
  const values = new Float64Array(runs.length);
  let [call, other] = [0, calls];
  for (let row = 0; row < runs.length; row += ROWS) {
    const rows = Math.min(ROWS, runs.length - row);
    first.set(callPut.subarray(row, row + rows));
    second.set(runs.subarray(call, Math.min(call + rows, calls)));
    third.set(runs.subarray(other, other + rows));
    const [sides, from, to] = [first.byteOffset, second.byteOffset, third.byteOffset];
    const read = kernels.mergeSides(rows, sides, from, to, written.byteOffset);
    [call, other] = [call + read, other + rows - read];
    values.set(written.subarray(0, rows), row);
  }
  return values;
}
