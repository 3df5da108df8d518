import { kellyAllocationPct, kellyFraction } from '../../math/kelly.ts';
import { defineOperation } from '../engine/operation.ts';
import { defaulted, number, objectOf } from '../engine/schemas.ts';
import { textList } from '../engine/wrapped-schemas.ts';

/**
 * The answer has notes if the expected win per 1.00 risked is between this value and its negative: a probability that prices imply gives
 * about 0. With the payout of a narrow spread, the probability of ending beyond its first strike gives up to some 0.2.
 */
const EDGE_NOTED = 0.25;

export const calculateKellySizing = defineOperation({
  name: 'calculate_kelly_sizing',
  title: 'Kelly sizing',
  page: 'house',
  description: 'Percent of capital to risk on a bet, 0 to 100: the Kelly criterion times fractional_kelly.',
  example: { win_prob: 0.55, payout_ratio: 2 },
  input: objectOf({
    win_prob: number(
      'Your own estimate of the probability to win, 0 to 1. A probability implied by prices gives no edge.',
      {
        minimum: 0,
        maximum: 1,
      },
    ),
    payout_ratio: defaulted(number('Dollars won per 1.00 risked.', { minimum: 1e-6, maximum: 1e6 }), 3),
    fractional_kelly: defaulted(
      number('Factor on the Kelly criterion, above 0 and at most 1.', { exclusiveMinimum: 0, maximum: 1 }),
      0.5,
    ),
  }),
  full: objectOf({
    win_probability: number('The probability win_prob, 0 to 1.'),
    recommended_portfolio_allocation_pct: number('Percent of liquid capital to risk, 0 to 100.'),
    full_kelly_pct: number(
      'Kelly criterion without factor and limits, percent of capital; negative if the bet loses on average.',
    ),
    edge: number('Expected win per 1.00 risked, dollars.'),
    notes: textList('Caveats on the figures.'),
  }),
  tool: {
    question: 'size of a bet',
    method: 'kelly-calculate_kelly_sizing',
    units: ['Percent of capital to risk on a bet, 0 to 100'],
    answers: ['win_probability', 'recommended_portfolio_allocation_pct'],
    echoes: ['edge', 'notes'],
  },
  run({ win_prob, payout_ratio, fractional_kelly }) {
    const edge = win_prob * payout_ratio - (1 - win_prob);
    return {
      result: {
        win_probability: win_prob,
        recommended_portfolio_allocation_pct: kellyAllocationPct(win_prob, payout_ratio, fractional_kelly),
        full_kelly_pct: 100 * kellyFraction(win_prob, payout_ratio),
        edge,
        notes: notesOn(edge),
      },
    };
  },
});

/** Returns at most two notes on a bet. `edge` is the expected win per 1.00 risked, dollars. */
function notesOn(edge: number): string[] {
  const isSmall = Math.abs(edge) < EDGE_NOTED;
  return [
    ...(edge > 0 ? [] : ['The bet does not win on average, so nothing should be risked on it.']),
    ...(isSmall ? ['A win_prob that prices imply has no edge: for such a bet, the size means nothing.'] : []),
    ...(isSmall && edge > 0
      ? ['A spread has more than two outcomes: the formula leaves out its partial wins and losses.']
      : []),
  ];
}
