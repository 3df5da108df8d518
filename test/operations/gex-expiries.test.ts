import { expect, test } from 'bun:test';
import { getGexByExpiry } from '../../src/operations/gex-expiries.ts';
import { chainOf, EXPIRY, LATER, quoted, range } from '../analytics/small-chains.ts';
import { callExtended, smallMarket } from './small-market.ts';

test('a series without open interest has no max pain', () => {
  const series = (expiry: string, openInterest: number) =>
    quoted({ strikes: range(95, 105), expiry, rest: { openInterest } });
  const chain = chainOf([...series(EXPIRY, 0), ...series(LATER, 7)]);
  const { context } = smallMarket({ chains: [chain] });
  const answer = callExtended(getGexByExpiry, { ticker: 'ACME' }, context);
  expect(answer).toMatchObject({ expiry: [EXPIRY, LATER], open_interest: [0, 154], max_pain: [null, 100] });
});
