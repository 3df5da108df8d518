import { expect, test } from 'bun:test';
import type { DayFigures } from '../../../../web/state/watched-tickers.ts';
import { tickerColumns, tickerRows } from '../../../../web/view/compare/ticker-columns.tsx';
import { ladderRange, ladderSentence, sparkPath } from '../../../../web/view/compare/ticker-shapes.tsx';

const row = (put_wall: number, call_wall: number, gex_flip: number | null = null) =>
  ({
    ticker: 'ACME',
    spot: 100,
    put_wall,
    call_wall,
    gex_flip,
    change_pct: null,
    regime: 'negative_gamma',
  }) as DayFigures;

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

test('an unknown figure is a dash, and so is each figure of a ticker without data', () => {
  const columns = tickerColumns((ticker) => (ticker === 'ACME' ? row(95, 105, 97) : undefined));
  const texts = (ticker: string) =>
    Object.fromEntries(columns.map(({ id, text }) => [id, text({ ticker, theme: '' })]));
  expect(texts('ACME')).toMatchObject({ spot: '100.00', change_pct: '—', flip_pct: '−3.0 %', regime: 'negative' });
  expect(new Set(Object.values({ ...texts('NONE'), ticker: '—', theme: '—' }))).toEqual(new Set(['—']));
  expect(columns).toHaveLength(13);
});

test('the grid has a row for each ticker, with all its themes, and the tickers beside the universe last', () => {
  expect(tickerRows({ big_names: ['A', 'B'], rot: ['B', 'C'] }, ['B', 'Z'])).toEqual([
    { ticker: 'A', theme: 'big names' },
    { ticker: 'B', theme: 'big names, rot' },
    { ticker: 'C', theme: 'rot' },
    { ticker: 'Z', theme: '' },
  ]);
});
