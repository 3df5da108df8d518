import { describe, expect, test } from 'bun:test';
import { largestRows } from '../../../src/analytics/exposure/largest.ts';
import { generator } from '../../../src/bench/workloads.ts';

/** Sorts all rows. */
function plainly(values: Float64Array, from: number, to: number): number[] {
  return Array.from(values.keys())
    .filter((row) => values[row]! > 0)
    .sort((a, b) => values[b]! - values[a]! || a - b)
    .slice(from, to);
}

describe('rows with the largest values', () => {
  test.each([
    ['all distinct', 1e9],
    ['some equal', 40],
    ['most equal', 3],
    ['all equal, or zero', 2],
  ])('equal those found by sorting all rows: %s', (_what, kinds) => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = generator(seed);
      const values = Float64Array.from({ length: 60 }, () => Math.floor(kinds * random()));
      for (const [from, to] of [
        [0, 1],
        [0, 10],
        [3, 8],
        [10, 30],
        [0, 100],
        [59, 60],
      ] as const) {
        expect(largestRows(values, from, to), `${seed}, ${from} to ${to}`).toEqual(plainly(values, from, to));
      }
    }
  });

  test('returns none if no value is above zero or the places are out of range', () => {
    expect(largestRows(new Float64Array(3), 0, 2)).toEqual([]);
    expect(largestRows(Float64Array.of(1, 2), 2, 5)).toEqual([]);
    expect(largestRows(Float64Array.of(1, 2), 0, 0)).toEqual([]);
  });
});
