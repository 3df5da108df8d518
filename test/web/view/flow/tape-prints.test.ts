import { expect, test } from 'bun:test';
import { getSignedPrints } from '../../../../src/operations/flow/signed-prints.ts';
import type { SignedPrints } from '../../../../web/data/page-answers.ts';
import { isOfFilter, tapePrints } from '../../../../web/view/flow/tape-prints.ts';
import { chainOf, EXPIRY, LATER, print, quoted, range } from '../../../analytics/small-chains.ts';
import { callExtended, smallMarket } from '../../../operations/small-market.ts';

/** 23:30 of 4 January in New York is the 5th by UTC. */
const LATE = Date.parse('2026-01-05T04:30:00Z');
const prints = [
  print({ id: 'a', expiry: EXPIRY, strike: 100, side: 'ask', size: 10, price: 2 }),
  print({ id: 'b', expiry: LATER, strike: 105.5, callPut: -1, at: LATE, multiLeg: true, bid: null, ask: null }),
];
const chain = chainOf(
  [EXPIRY, LATER].flatMap((expiry) => quoted({ strikes: range(95, 110), expiry, halfSpread: 0.01 })),
);
const { context } = smallMarket({ chains: [chain], prints });
const rows = tapePrints(callExtended(getSignedPrints, { ticker: 'ACME' }, context) as unknown as SignedPrints);

test('rows are the prints of the answer, with the contract as a trader writes it', () => {
  expect(rows.map(({ contract, size, aggressor }) => [contract, size, aggressor])).toEqual([
    ['ACME 16 Jan ’26 100 C', 10, 'buyer'],
    ['ACME 20 Feb ’26 105.5 P', prints[1]!.size, 'unknown'],
  ]);
  expect(rows[1]!.quote).toBe('—');
});

test.each([
  ['day', '2026-01-05', 0],
  ['day', '2026-01-04', 1],
  ['expiry', LATER, 1],
  ['manner', 'multi_leg', 1],
] as const)('a filter by %s %s has its prints alone, by New York days', (group, key, index) => {
  const found = rows.filter((each) => isOfFilter(each, { group, key, text: '' }));
  expect(found).toEqual([rows[index]!]);
});
