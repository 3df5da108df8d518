import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { placeLabels } from '../../../web/chart/place-labels.ts';

const SIZE = 19;
/** The centers of labels of marks on an axis, which begins at 0. */
const placed = (marks: readonly number[], length: number) => {
  const labels = marks.map((at) => ({ at, size: SIZE }));
  return placeLabels(labels, 0, length);
};

test.each([
  ['one label stands at its mark', [100], [100]],
  ['labels that do not touch stand at their marks', [100, 200], [100, 200]],
  ['two labels at one mark stand beside it', [100, 100], [89.5, 110.5]],
  ['a label above the edge moves into the chart', [-30], [10.5]],
  ['a label below the edge moves into the chart', [900], [489.5]],
  ['labels keep the order that they were given in', [200, 100], [200, 100]],
])('%s', (_, marks, centers) => {
  expect(placed(marks, 500)).toEqual(centers);
});

test.each([360, 620, 1200])('no two of 500 random sets of labels overlap on an axis of %d pixels', (length) => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -50, max: length + 50, noNaN: true }), { minLength: 1, maxLength: 7 }),
      (marks) => {
        const centers = placed(marks, length);
        const sorted = centers.toSorted((a, b) => a - b);
        for (let i = 1; i < sorted.length; i++) expect(sorted[i]! - sorted[i - 1]!).toBeGreaterThanOrEqual(SIZE);
        expect(sorted[0]!).toBeGreaterThanOrEqual(SIZE / 2 - 1e-6);
        expect(sorted.at(-1)!).toBeLessThanOrEqual(length - SIZE / 2 + 1e-6);
        // Labels stand in the order of their marks, so that no leader line crosses another.
        const order = (values: readonly number[]) =>
          values.map((_, i) => i).toSorted((a, b) => values[a]! - values[b]! || a - b);
        expect(order(centers)).toEqual(order(marks));
      },
    ),
    { numRuns: 500 },
  );
});
