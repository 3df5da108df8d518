import { describe, expect, test } from 'bun:test';
import { computeGreeksBatch } from '../../../src/operations/options/greeks-batch.ts';
import { computeOptionsGreeks } from '../../../src/operations/options/options-greeks.ts';
import { callExtended, callRoute, smallMarket } from '../small-market.ts';

const { context } = smallMarket();
const batch = (args: object) =>
  callRoute(computeGreeksBatch, args, context) as { count: number; units: string } & Record<string, number[]>;

const GREEKS = ['delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];

/** Rows of every kind, more than one kernel chunk, and an odd count. */
const COUNT = 2049;
const at = <T>(values: readonly T[]) => Array.from({ length: COUNT }, (_, row) => values[row % values.length]!);
const COLUMNS = {
  ...{ put_call: at(['C', 'P']), spot: at([100, 1e-6, 1e9, 4000]), strike: at([105, 1e9, 1e-6, 3900, 100]) },
  ...{ tte: at([0.25, 1e-8, 100]), iv: at([0.22, 1e-4, 100, 0.5, 1, 0.1, 0.3]), rate: at([0.04, -1, 1]) },
  dividend: at([0, 0.01, -1, 1]),
};

/** The same options, requested one at a time. */
const alone = Array.from({ length: COUNT }, (_, row) =>
  callExtended(
    computeOptionsGreeks,
    Object.fromEntries(Object.entries(COLUMNS).map(([name, column]) => [name, column[row]])),
    context,
  ),
) as (Record<string, number> & { raw: Record<string, number> })[];

describe('each row equals the single option bit for bit', () => {
  test.each(['market', 'raw'])('in %s units', (units) => {
    const answer = batch({ ...COLUMNS, units });
    expect([answer.count, answer.units]).toEqual([COUNT, units]);
    expect(Array.from(answer.price!)).toEqual(alone.map((row) => row.price!));
    for (const name of GREEKS)
      expect([name, Array.from(answer[name]!)]).toEqual([
        name,
        alone.map((row) => (units === 'raw' ? row.raw[name]! : row[name]!)),
      ]);
  });
});

test('a scalar for all rows equals a column of it', () => {
  const repeated = {
    ...COLUMNS,
    ...{ spot: Array(COUNT).fill(90), rate: Array(COUNT).fill(0.04), put_call: Array(COUNT).fill('P') },
  };
  const { rate: _, ...rest } = COLUMNS;
  expect(batch({ ...rest, spot: 90, put_call: 'P' })).toEqual(batch(repeated));
});

test.each([
  ['only scalars give one row', { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22 }, 1],
  ['no rows give no results', { put_call: [], spot: 100, strike: [], tte: 0.25, iv: 0.22 }, 0],
])('%s', (_what, args, count) => {
  const answer = batch(args);
  expect(answer.count).toBe(count);
  expect(['price', ...GREEKS].map((name) => answer[name]!.length)).toEqual(Array(9).fill(count));
});
