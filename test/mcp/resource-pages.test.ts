import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  asColumns,
  nearStrikes,
  PAGE_CHARS_MAX,
  type PagedTable,
  type PageRequest,
  pageOf,
} from '../../src/mcp/resource-pages.ts';
import { sixDigits } from '../../src/mcp/six-digits.ts';
import { refusalOf } from '../operations/small-market.ts';

/** The pages of an answer in columns. */
const address = (row: number) => `zomma://next/${row}`;
const STRIKES: readonly PagedTable[] = [{ keys: ['strike'], order: 'near' }];
const answer = {
  spot_price: 101,
  count: 5,
  strike: [90, 95, 100, 105, 110],
  net_gex: [1, 2, 3, 4, 5],
  call_gex: [6, 7, 8, 9, 0],
};
const NEAREST = 'the first page has the rows nearest spot; ascending within a page';
const TWO_TABLES: readonly PagedTable[] = [
  { at: 'by_manner', keys: ['manner'], order: 'first' },
  { at: 'by_day', keys: ['day'], order: 'last' },
];
const flow = {
  ticker: 'SPY',
  count: 99,
  by_manner: { count: 2, manner: ['block', 'all'], premium: [1, 2] },
  by_day: { count: 3, day: ['a', 'b', 'c'], premium: [3, 4, 5] },
};

test.each<[string, PageRequest, Record<string, unknown>]>([
  [
    'the rows nearest spot, in the order of the answer',
    { limit: 3, from: 0 },
    {
      ...{ spot_price: 101, page: { rows: 3, of: 5, order: NEAREST, next: 'zomma://next/3' } },
      ...{ count: 3, strike: [95, 100, 105], net_gex: [2, 3, 4], call_gex: [7, 8, 9] },
    },
  ],
  [
    'the rest, without a further page',
    { limit: 3, from: 3 },
    {
      ...{ spot_price: 101, page: { rows: 2, of: 5, order: NEAREST } },
      ...{ count: 2, strike: [90, 110], net_gex: [1, 5], call_gex: [6, 0] },
    },
  ],
  [
    'only the nearest rows and the wanted columns, with the key',
    { near: 2, columns: ['net_gex'], from: 0 },
    {
      spot_price: 101,
      page: { rows: 2, of: 5, order: NEAREST },
      count: 2,
      strike: [100, 105],
      net_gex: [3, 4],
    },
  ],
])('a page has %s', (_what, asked, expected) => {
  expect(pageOf(answer, STRIKES, asked, address)).toEqual(expected);
});

test('pages go through the tables one after the other, and the last days come first', () => {
  expect(pageOf(flow, TWO_TABLES, { limit: 3, from: 0 }, address)).toEqual({
    ...{ ticker: 'SPY', count: 99, page: { rows: 3, of: 5, next: 'zomma://next/3' } },
    by_manner: { count: 2, manner: ['block', 'all'], premium: [1, 2] },
    by_day: { count: 1, day: ['c'], premium: [5] },
  });
  expect(pageOf(flow, TWO_TABLES, { from: 3 }, address)).toEqual({
    ...{ ticker: 'SPY', count: 99, page: { rows: 2, of: 5 } },
    by_day: { count: 2, day: ['a', 'b'], premium: [3, 4] },
  });
});

test('an empty table is shown as empty', () => {
  const empty = { ...flow, by_manner: { count: 0, manner: [], premium: [] } };
  expect(pageOf(empty, TWO_TABLES, { limit: 1, from: 0 }, address)).toMatchObject({ by_manner: { count: 0 } });
  expect(pageOf({ ...answer, strike: [], net_gex: [], call_gex: [] }, STRIKES, { from: 0 }, address)).toEqual({
    ...{ spot_price: 101, page: { rows: 0, of: 0, order: NEAREST }, count: 0 },
  });
});

test('an unknown column is an error that names the columns', () => {
  const { message, hint } = refusalOf(() => pageOf(flow, TWO_TABLES, { columns: ['delta'], from: 0 }, address));
  expect([message, hint]).toEqual([
    '/columns must be names of columns, separated by commas',
    'Columns: manner, premium, day.',
  ]);
});

test('the pages of any table fit, have a row at least, and add up to the table', () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null));
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: value, b: value }), { maxLength: 900 }),
      fc.integer({ min: 0, max: 900 }),
      (rows, spot) => {
        const table = {
          spot_price: spot,
          strike: [...rows.keys()],
          a: rows.map(({ a }) => a),
          b: rows.map(({ b }) => b),
        };
        const seen: number[] = [];
        for (let from = 0; from < rows.length || from === 0; ) {
          const page = pageOf(table, STRIKES, { from }, address) as { strike?: number[]; page: { next?: string } };
          expect(JSON.stringify(sixDigits(page)).length).toBeLessThanOrEqual(PAGE_CHARS_MAX);
          seen.push(...(page.strike ?? []));
          if (page.page.next === undefined) break;
          const next = Number(page.page.next.slice(13));
          expect(next).toBeGreaterThan(from);
          from = next;
        }
        expect(seen.toSorted((a, b) => a - b)).toEqual(table.strike);
      },
    ),
    { numRuns: 30 },
  );
});

describe('a matrix', () => {
  const matrix = {
    ...{ spot_price: 101, strike: [90, 100, 110], by_strike: [1, 2, 3] },
    ...{
      values: [
        [1, null, 0],
        [0, 2, 3],
      ],
      by_expiry: [7, 5],
    },
  };
  test('has the strikes nearest spot, and sums of all strikes', () => {
    expect(nearStrikes(matrix, 2)).toEqual({
      ...{ spot_price: 101, strike: [100, 110], by_strike: [2, 3], farther_strikes_left_out: 1 },
      ...{
        values: [
          [null, 0],
          [2, 3],
        ],
        by_expiry: [7, 5],
      },
    });
  });
  test('with few strikes is whole', () => {
    expect(nearStrikes(matrix, 3)).toEqual(matrix);
  });
});

test('rows become columns, with null for a missing value', () => {
  expect(asColumns([{ a: 1 }, { a: 2, b: 'x' }])).toEqual({ a: [1, 2], b: [null, 'x'] });
  expect(asColumns([])).toEqual({});
});
