import { expect, test } from 'bun:test';
import { customerPositions } from '../../../src/analytics/flow/customer-positions.ts';
import { signPrints } from '../../../src/analytics/flow/trade-side.ts';
import type { Print } from '../../../src/market/prints.ts';
import { AS_OF, chainOf, contract, LATER, print, TODAY } from '../small-chains.ts';

const CHAIN = chainOf(
  [
    contract({ strike: 100, openInterest: 1_000, volume: 50 }),
    contract({ strike: 100, callPut: -1, openInterest: 1_000 }),
    contract({ strike: 110 }),
    contract({ strike: 100, expiry: LATER, openInterest: 0 }),
    contract({ root: 'ACME1', strike: 100, openInterest: 1_000 }),
    contract({ expiry: TODAY, openInterest: 1_000 }),
  ],
  { asOf: AS_OF + 3_600_000 },
);
const ROWS = Array.from({ length: CHAIN.count }, (_, row) => {
  const { root, expiry } = CHAIN.series[CHAIN.seriesIndex[row]!]!;
  return `${root} ${expiry.slice(5)} ${CHAIN.callPut[row] === 1 ? 'C' : 'P'}${CHAIN.strike[row]}`;
});

/** The positions other than 0, by contract. */
function netOf(...prints: Partial<Print>[]) {
  const { net, ...rest } = customerPositions(CHAIN, signPrints(prints.map((each) => print({ side: 'ask', ...each }))));
  return {
    net: Object.fromEntries(ROWS.flatMap((name, row) => (net[row] === 0 ? [] : [[name, net[row]]]))),
    ...rest,
  };
}

test.each<[string, Partial<Print>[], Record<string, number>]>([
  ['bought minus sold', [{ size: 400 }, { size: 150, side: 'bid' }], { 'ACME 01-16 C100': 250 }],
  ['a put is separate from its call', [{ size: 10, callPut: -1 }], { 'ACME 01-16 P100': 10 }],
  ['sold', [{ size: 10, side: 'bid' }], { 'ACME 01-16 C100': -10 }],
  ['limited to the open interest plus the volume', [{ size: 9_999 }], { 'ACME 01-16 C100': 1_050 }],
  [
    'the limit applies to the net, not to intermediate values',
    [{ size: 2_000 }, { size: 1_900, side: 'bid' }],
    { 'ACME 01-16 C100': 100 },
  ],
  [
    'the same limit applies to short positions',
    [{ size: 9_999, side: 'bid', callPut: -1 }],
    { 'ACME 01-16 P100': -1_000 },
  ],
  ['a missing open interest counts as 0', [{ size: 9_999, strike: 110 }], {}],
  ['a settled contract', [{ expiry: TODAY, size: 3 }], {}],
  ['a contract without open interest', [{ size: 5, expiry: LATER }], {}],
  ['a print after the snapshot', [{ at: CHAIN.asOf + 1 }], {}],
  ['a print at the moment of the snapshot', [{ at: CHAIN.asOf, size: 3 }], { 'ACME 01-16 C100': 3 }],
  ['a contract that is not listed', [{ strike: 101 }], {}],
  ['an adjusted root', [{ root: 'ACME1' }], {}],
  ['unknown side', [{ side: null }], {}],
])('%s', (_what, prints, expected) => {
  expect(netOf(...prints).net).toEqual(expected);
});

test('counts the prints by how their side was determined', () => {
  const quote = { side: null, price: 1.2, bid: 1, ask: 1.2 };
  expect(
    netOf(
      { side: 'bid' },
      quote,
      { side: null, price: 9 },
      { side: null, strike: 110 },
      { strike: 101 },
      { size: 9e9 },
    ),
  ).toMatchObject({ contracts: 1, capped: 1, prints: { feed: 2, quote: 1, tick: 1, unknown: 1 } });
});
