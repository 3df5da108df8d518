import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Columns of a reference file by name. `put_call` is +1 or -1. */
export interface Reference {
  readonly count: number;
  column(name: string): Float64Array;
}

export function reference(file: 'bsm.csv' | 'merton.csv'): Reference {
  const text = readFileSync(join(import.meta.dir, '../../src/bench/reference', file), 'utf8');
  const [head, ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const value = (cell: string) => (cell === 'C' ? 1 : cell === 'P' ? -1 : Number(cell));
  return {
    count: rows.length,
    column: (name) => {
      const i = head!.indexOf(name);
      if (i < 0) throw new Error(`${file} has no column ${name}`);
      return Float64Array.from(rows, (row) => value(row[i]!));
    },
  };
}

export const EPSILON = 2.22e-16;

/**
 * The row with the largest error, in units of the effect of one rounding of each input (see the fixture's README). It
 * includes the numbers, so that a failing expectation shows them.
 */
export function worst(computed: Float64Array, expected: Float64Array, condition: Float64Array) {
  let found = { scaledError: 0, row: -1, computed: Number.NaN, expected: Number.NaN };
  expected.forEach((X, row) => {
    const x = computed[row]!;
    const underflows = Math.abs(X) < 1e-290 && Math.abs(x) < 1e-280;
    const scaledError = underflows ? 0 : Math.abs(x - X) / (EPSILON * (Math.abs(X) + condition[row]!));
    if (!(scaledError <= found.scaledError)) found = { scaledError, row, computed: x, expected: X };
  });
  return found;
}
