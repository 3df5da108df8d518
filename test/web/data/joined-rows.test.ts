import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { changeOf, joinRows, presenceOf } from '../../../web/data/joined-rows.ts';

const strikes = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 20 });

describe('the rows of two moments', () => {
  test('every row of both stands once, those of now in their order', () => {
    fc.assert(
      fc.property(strikes, strikes, (now, before) => {
        const rows = joinRows(now, before);
        expect(rows.slice(0, now.length).map((row) => row.now)).toEqual(now.map((_, i) => i));
        expect(rows.flatMap((row) => (row.before === undefined ? [] : [before[row.before]!])).toSorted()).toEqual(
          before.toSorted(),
        );
        for (const row of rows) {
          if (row.now !== undefined && row.before !== undefined) expect(now[row.now]).toBe(before[row.before]!);
        }
      }),
    );
  });

  test('a row of one moment only is new or gone, and has no change', () => {
    const rows = joinRows([100, 101], [99, 101]);
    expect(rows.map(presenceOf)).toEqual(['new', undefined, 'gone']);
    expect(rows.map((row) => changeOf(row, [5, 7], [2, 3]))).toEqual([null, 4, null]);
  });

  test('a change from or to an unknown value is unknown, and the same moment has no change', () => {
    const rows = joinRows([100], [100]);
    expect(changeOf(rows[0]!, [null], [3])).toBeNull();
    expect(changeOf(rows[0]!, [3], [null])).toBeNull();
    expect(changeOf(rows[0]!, [3], [3])).toBe(0);
  });

  test('without an earlier moment every row is of now', () => {
    expect(joinRows([100, 101], undefined)).toEqual([
      { now: 0, before: undefined },
      { now: 1, before: undefined },
    ]);
  });
});
