import { describe, expect, test } from 'bun:test';
import type { Expiries, Strikes } from '../../../web/data/page-answers.ts';
import { largestChanges, valuesBySeries, valuesByStrike } from '../../../web/explain/snapshot-changes.ts';

const values = (...rows: readonly (readonly [string, number])[]) => new Map(rows);

describe('the largest changes', () => {
  const before = values(['600', -10], ['610', 5], ['620', 3], ['630', 7]);
  const now = values(['600', -4], ['610', 5], ['620', 1], ['640', -9]);

  test('are in order of size, with rows that only one snapshot has', () => {
    expect(largestChanges(before, now, 3)).toEqual({
      rows: [
        { name: '640', was: null, now: -9, change: -9 },
        { name: '630', was: 7, now: null, change: -7 },
        { name: '600', was: -10, now: -4, change: 6 },
      ],
      sharePct: (100 * 22) / 24,
      total: -12,
    });
  });

  test('the other way round are the opposite', () => {
    const there = largestChanges(before, now, 9);
    const back = largestChanges(now, before, 9);
    const byName = (all: typeof there) => new Map(all.rows.map(({ name, change }) => [name, change]));
    expect(byName(back)).toEqual(new Map([...byName(there)].map(([name, change]) => [name, -change])));
    expect(back.total).toBe(-there.total);
  });

  test('of a snapshot with itself are none', () => {
    expect(largestChanges(now, now, 5)).toEqual({ rows: [], sharePct: 0, total: 0 });
  });

  test('a new row with the value 0 is still new', () => {
    expect(largestChanges(values(), values(['650', 0]), 5).rows).toEqual([
      { name: '650', was: null, now: 0, change: 0 },
    ]);
  });
});

test('columns by strike and by series', () => {
  const strikes = {
    strike: [600, 602.5],
    net_gex: [-1, 2],
    call_gex: [3, 4],
    put_gex: [-4, -2],
    call_open_interest: [10, 20],
    put_open_interest: [1, 2],
  } as unknown as Strikes;
  expect(valuesByStrike(strikes, 'put_gex')).toEqual(values(['600', -4], ['602.5', -2]));
  expect(valuesByStrike(strikes, 'open_interest')).toEqual(values(['600', 11], ['602.5', 22]));
  const expiries = {
    root: ['SPX', 'SPXW'],
    expiry: ['2026-12-18', '2026-12-18'],
    net_gex: [7, 8],
    open_interest: [70, 80],
  } as unknown as Expiries;
  expect(valuesBySeries(expiries, 'call_gex')).toEqual(values(['2026-12-18 SPX', 7], ['2026-12-18 SPXW', 8]));
  expect(valuesBySeries(expiries, 'open_interest')).toEqual(values(['2026-12-18 SPX', 70], ['2026-12-18 SPXW', 80]));
});
