import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { downsample } from '../../src/analytics/downsample.ts';

const rows = (count: number) => Array.from({ length: count }, (_, i) => i);

test.each([
  [0, 5, []],
  [5, 5, [0, 1, 2, 3, 4]],
  [5, 1, [4]],
  [5, 2, [0, 4]],
  [5, 3, [0, 2, 4]],
  [5, 4, [0, 1, 2, 4]],
  [11, 3, [0, 5, 10]],
  [100, 4, [0, 33, 66, 99]],
])('of %p rows %p points are %p', (count, points, expected) => {
  expect(downsample(rows(count), points)).toEqual(expected);
});

test('returns the requested count of distinct rows, evenly spaced within one row, with both ends', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 4000 }), fc.integer({ min: 2, max: 500 }), (count, points) => {
      const kept = downsample(rows(count), points);
      expect([kept.length, kept[0], kept.at(-1)]).toEqual([Math.min(count, points), 0, count - 1]);
      const gaps = kept.slice(1).map((each, i) => each - kept[i]!);
      expect(Math.min(...gaps)).toBeGreaterThan(0);
      expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
    }),
  );
});
