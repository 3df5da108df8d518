import { describe, expect, test } from 'bun:test';
import { largestRows } from '../../../src/analytics/exposure/largest.ts';
import { generator } from '../../../src/bench/workloads.ts';

/** By sorting all rows. */
function plainly(values: Float64Array, from: number, to: number): number[] {
  return Array.from(values.keys())
    .filter((row) => values[row]! > 0)
    .sort((a, b) => values[b]! - values[a]! || a - b)
    .slice(from, to);
}

describe('rows of the largest values', () => {
  test.each([
    ['all different', 1e9],
    ['some alike', 40],
    ['most alike', 3],
    ['all alike, or nothing', 2],
  ])('are those that sorting all finds: %s', (_what, kinds) => {
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

  test('none where nothing is above zero, or the places are beyond', () => {
    expect(largestRows(new Float64Array(3), 0, 2)).toEqual([]);
    expect(largestRows(Float64Array.of(1, 2), 2, 5)).toEqual([]);
    expect(largestRows(Float64Array.of(1, 2), 0, 0)).toEqual([]);
  });
});
