import { expect, test } from 'bun:test';
import { calculateKellySizing } from '../../../src/operations/options/kelly-sizing.ts';
import { call, callExtended, refusalOf, smallMarket } from '../small-market.ts';

const { context } = smallMarket();

test.each([
  [{ win_prob: 0.55, payout_ratio: 2, fractional_kelly: 1 }, 32.5],
  [{ win_prob: 0.55, payout_ratio: 2 }, 16.25],
  [{ win_prob: 0.5 }, 50 * (0.5 - 0.5 / 3)],
  [{ win_prob: 0.1 }, 0],
  [{ win_prob: 1, fractional_kelly: 1 }, 100],
])('%j: %d %%', (args, percent) => {
  const answer = call(calculateKellySizing, args, context);
  expect(answer.win_probability).toBe(args.win_prob);
  expect(answer.recommended_portfolio_allocation_pct).toBeCloseTo(percent, 12);
});

test('the extended answer reports a negative edge', () => {
  const answer = callExtended(calculateKellySizing, { win_prob: 0.1, payout_ratio: 2 }, context);
  expect(answer.full_kelly_pct).toBeCloseTo(-35, 12);
  expect(answer.edge).toBeCloseTo(-0.7, 12);
});

test.each([
  [{ win_prob: 1.1 }, '/win_prob'],
  [{ win_prob: 0.5, payout_ratio: 0 }, '/payout_ratio'],
  [{ win_prob: 0.5, fractional_kelly: 0 }, '/fractional_kelly'],
  [{ win_prob: 0.5, fractional_kelly: 1.1 }, '/fractional_kelly'],
])('rejects %j', (args, field) => {
  expect(refusalOf(() => call(calculateKellySizing, args, context)).fields).toEqual([field]);
});
