import { expect, test } from 'bun:test';
import { solveImpliedVolatilities } from '../../../src/operations/options/implied-volatilities.ts';
import { blackScholesPrice } from '../../analytics/plain.ts';
import { callRoute, smallMarket } from '../small-market.ts';

const { context } = smallMarket();
const solve = (args: object) =>
  callRoute(solveImpliedVolatilities, args, context) as { count: number; iv: number[]; status: string[] };

const OPTION = { spot: 100, strike: 105, tte: 0.25, rate: 0.04, dividend: 0.01 };
/** The upper bound of a call and the lower bound of a put, and the other way round. */
const SPOT_NOW = 100 * Math.exp(-0.01 * 0.25);
const STRIKE_NOW = 105 * Math.exp(-0.04 * 0.25);

test('recovers the volatilities that priced the options', () => {
  const ivs = [0.05, 0.2, 0.7, 3];
  for (const put_call of ['C', 'P']) {
    const price = ivs.map((iv) => blackScholesPrice({ ...OPTION, iv, callPut: put_call === 'C' ? 1 : -1 }));
    const { count, iv, status } = solve({ ...OPTION, put_call, price });
    expect([count, status]).toEqual([4, Array(4).fill('ok')]);
    iv.forEach((each, row) => {
      expect(each).toBeCloseTo(ivs[row]!, 10);
    });
  }
});

test.each([
  ['a call at a price of 0', 'C', 0, 'at_or_below_intrinsic'],
  ['a put below its intrinsic value', 'P', STRIKE_NOW - SPOT_NOW - 1e-6, 'at_or_below_intrinsic'],
  ['a put slightly above its intrinsic value', 'P', STRIKE_NOW - SPOT_NOW + 1e-6, 'ok'],
  ['a call slightly below the share price', 'C', SPOT_NOW - 1e-6, 'ok'],
  ['a call above the share price', 'C', SPOT_NOW + 1e-6, 'at_or_above_cap'],
  ['a put above the strike', 'P', STRIKE_NOW + 1e-6, 'at_or_above_cap'],
  ['the highest allowed price', 'C', 1e9, 'at_or_above_cap'],
])('%s: %s at %p is %s, and the neighbouring rows are not affected', (_what, put_call, price, expected) => {
  const good = { put_call: 'C', price: 3 };
  const rows = [good, { put_call, price }, good];
  const { iv, status } = solve({
    ...OPTION,
    put_call: rows.map((row) => row.put_call),
    price: rows.map((row) => row.price),
  });
  expect(status).toEqual(['ok', expected, 'ok']);
  expect(iv[1]! > 0).toBe(expected === 'ok');
  expect([iv[0], iv[2]]).toEqual(Array(2).fill(solve({ ...OPTION, ...good }).iv[0]!));
});

test.each([
  ['one row', { ...OPTION, put_call: 'C', price: 3 }, 1],
  ['no rows', { ...OPTION, put_call: 'C', price: [] }, 0],
])('%s', (_what, args, count) => {
  const answer = solve(args);
  expect([answer.count, answer.iv.length, answer.status.length]).toEqual([count, count, count]);
});
