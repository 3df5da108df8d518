import { expect, test } from 'bun:test';
import { mid, tradedPrice } from '../../../src/analytics/chain/quotes.ts';
import { chainOf, contract } from '../small-chains.ts';

const NONE = Number.NaN;

test.each([
  ['two-sided', { bid: 2, ask: 3, last: 9 }, 2.5, 2.5],
  ['locked', { bid: 2, ask: 2, last: 9 }, 2, 2],
  ['a bid of 0', { bid: 0, ask: 3, last: 9 }, NONE, 1.5],
  ['a missing bid', { ask: 3, last: 9 }, NONE, 9],
  ['a missing ask', { bid: 2, last: 9 }, NONE, 9],
  ['crossed', { bid: 3, ask: 2, last: 9 }, NONE, 9],
  ['bid and ask of 0', { bid: 0, ask: 0, last: 9 }, NONE, 9],
  ['no values', {}, NONE, NONE],
])('%s', (_what, quote, middle, traded) => {
  const chain = chainOf([contract(quote)]);
  expect([mid(chain, 0), tradedPrice(chain, 0)]).toEqual([middle, traded]);
});
