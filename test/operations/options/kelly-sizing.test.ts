import { expect, test } from 'bun:test';
import { calculateKellySizing } from '../../../src/operations/options/kelly-sizing.ts';
import { call, callExtended, performTool, refusalOf, smallMarket } from '../small-market.ts';

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

const LOSES = /does not win on average/;
const IMPLIED = /A win_prob that prices imply has no edge/;
const PARTIAL = /A spread has more than two outcomes/;

test.each([
  ['an edge', { win_prob: 0.55, payout_ratio: 2 }, []],
  ['a clear loss', { win_prob: 0.1, payout_ratio: 2 }, [LOSES]],
  ['the break-even probability', { win_prob: 0.25, payout_ratio: 3 }, [LOSES, IMPLIED]],
  ['a little less than that', { win_prob: 0.23, payout_ratio: 3 }, [LOSES, IMPLIED]],
  ['a little more than that', { win_prob: 0.26, payout_ratio: 3 }, [IMPLIED, PARTIAL]],
  // The probability of ending beyond the first strike, 0.294, with the payout of the spread: 20 dollars wide, for 5 dollars.
  ['a spread at the prices of the market', { win_prob: 0.294, payout_ratio: 3 }, [IMPLIED, PARTIAL]],
])('notes on %s', (_what, args, expected) => {
  const { body, echoes } = performTool(calculateKellySizing, args, context);
  const notes = echoes.notes as string[];
  expect(notes).toHaveLength(expected.length);
  for (const [i, pattern] of expected.entries()) expect(notes[i]).toMatch(pattern);
  expect(Object.keys(body)).toEqual(['win_probability', 'recommended_portfolio_allocation_pct']);
});

test.each([
  [{ win_prob: 1.1 }, '/win_prob'],
  [{ win_prob: 0.5, payout_ratio: 0 }, '/payout_ratio'],
  [{ win_prob: 0.5, fractional_kelly: 0 }, '/fractional_kelly'],
  [{ win_prob: 0.5, fractional_kelly: 1.1 }, '/fractional_kelly'],
])('rejects %j', (args, field) => {
  expect(refusalOf(() => call(calculateKellySizing, args, context)).fields).toEqual([field]);
});
