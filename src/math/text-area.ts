import { RowField } from '../../assembly/columns.ts';
import { CHUNK_ROWS, memoryBytes, TEXT_START } from './kernels.ts';

export { memoryBytes, memoryWords } from './kernels.ts';

// The text area has the powers of ten, the bytes that kernels read, what they find in them, and the bytes that they write.
const [POWER_MIN, POWER_MAX] = [-292, 324];
const POWERS = TEXT_START;
const POWERS_BYTES = 16 * (POWER_MAX - POWER_MIN + 1);
/** The kernels read and write up to this many bytes after the end of a text. */
const SLACK_BYTES = 64;

export const INPUT = POWERS + POWERS_BYTES + SLACK_BYTES;
/** The input has space for a row of a table, of which a piece of 256 KiB may be the end. */
export const INPUT_BYTES = 1536 * 1024;
/** Maximum number of cells of a block: more than those of a row of the longest length in a market-data file. */
export const CELLS_MAX = 200_000;
/** The starts and ends of the cells of rows. */
export const CELLS = INPUT + INPUT_BYTES + 2 * SLACK_BYTES;
export const ROWS = CELLS + 8 * CELLS_MAX;
export const PATTERN = ROWS + 4 * RowField.size * (CHUNK_ROWS + 1);
export const OUTPUT = PATTERN + 256;
/** An address divisible by 8 in the output, for numbers that no kernel needs after its caller has returned. */
export const SCRATCH = OUTPUT + (-OUTPUT & 7);

let hasPowers = false;

/** Returns the address of the powers of ten. Computes them at the first call, which takes 1 ms. See assembly/wide-product.ts. */
export function powersOfTen(): number {
  if (hasPowers) return POWERS;
  const table = new BigUint64Array(memoryBytes.buffer, POWERS, POWERS_BYTES / 8);
  for (let e = POWER_MIN; e <= POWER_MAX; e++) {
    const bits = BigInt(127 - Math.floor(e * Math.log2(10)));
    const dividend = (10n ** BigInt(Math.max(e, 0))) << (bits > 0n ? bits : 0n);
    const divisor = (10n ** BigInt(Math.max(-e, 0))) << (bits < 0n ? -bits : 0n);
    const power = (dividend + divisor - 1n) / divisor;
    table[2 * (e - POWER_MIN)] = power >> 64n;
    table[2 * (e - POWER_MIN) + 1] = BigInt.asUintN(64, power);
  }
  hasPowers = true;
  return POWERS;
}
