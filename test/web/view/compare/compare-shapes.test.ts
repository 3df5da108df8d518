import { expect, test } from 'bun:test';
import type { DayFigures } from '../../../../web/state/watched-tickers.ts';
import { compareTable, ladderRange, ladderSentence, sparkPath } from '../../../../web/view/compare/compare-shapes.ts';
import { universeRows } from '../../../../web/view/compare/universe-grid.tsx';

const row = (putWall: number, callWall: number, flip: number | null = null) =>
  ({ ticker: 'ACME', spot: 100, putWall, callWall, flip }) as DayFigures;

test.each([
  [[], 2],
  [[row(99, 101)], 2],
  [[row(99, 101), row(97, 101)], 4],
  [[row(99, 101, 91)], 10],
  [[row(99, 101), row(60, 500)], 25],
])('the axis of the ladders contains all levels up to 25 %% of spot', (rows, range) => {
  expect(ladderRange(rows)).toBe(range);
});

test('a sentence has the levels of a ladder', () => {
  expect(ladderSentence(row(95, 112.5, 97))).toBe('put wall 95, −5.0 %; flip 97, −3.0 %; call wall 112.5, +12.5 %');
  expect(ladderSentence(row(95, 105))).toContain('no flip');
});

test('a line goes from left to right, with the highest value on top', () => {
  expect(sparkPath([1, 3, 2], 102, 24)).toBe('M1.0 22.0L51.0 2.0L101.0 12.0');
  expect(sparkPath([2, 2], 102, 24)).toBe('M1.0 12.0L101.0 12.0');
});

test('the table has the figures of each ticker, with null for what is unknown', () => {
  const { columns, rows } = compareTable([{ ...row(95, 105), change: null, regime: 'negative' }]);
  expect(Object.fromEntries(columns.map((name, i) => [name, rows[0]![i]]))).toMatchObject({
    ...{
      ticker: 'ACME',
      spot: 100,
      change_pct: null,
      gex_flip: null,
      put_wall: 95,
      call_wall: 105,
      regime: 'negative',
    },
  });
});

test('the grid has a row for each ticker, with all its themes, and the tickers beside the universe last', () => {
  expect(universeRows({ big_names: ['A', 'B'], rot: ['B', 'C'] }, ['B', 'Z'])).toEqual([
    { ticker: 'A', theme: 'big names' },
    { ticker: 'B', theme: 'big names, rot' },
    { ticker: 'C', theme: 'rot' },
    { ticker: 'Z', theme: '' },
  ]);
});
