import { describe, expect, test } from 'bun:test';
import { addDay, directionalPremium, type Flow, flowOfPrints, largePrints } from '../../../src/analytics/flow/flow.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { premiumOf, sumOf } from '../../../src/market/prints.ts';
import { chainOf, contract, EXPIRY, LATER, print } from '../small-chains.ts';

function flowsOfSnapshots(days: Iterable<Chain>): Map<string, Flow> {
  const flows = new Map<string, Flow>();
  for (const day of days) addDay(flows, day);
  return flows;
}

const MIN = 100_000;

test('premium is price times size times shares', () => {
  expect(premiumOf(print({ price: 2.5, size: 40, multiplier: 10 }))).toBe(1000);
});

describe('a print is large', () => {
  test.each([
    ['at the threshold', { price: 5, size: 200 }, true],
    ['not a cent below the threshold', { price: 4.99, size: 200 }, false],
    ['not if canceled', { price: 50, canceled: true }, false],
    ['also if it is a leg of a spread', { multiLeg: true }, true],
    ['not if its deliverable is adjusted', { root: 'ACME1' }, false],
  ])('%s', (_what, overrides, expected) => {
    expect(largePrints([print(overrides)], MIN)).toHaveLength(expected ? 1 : 0);
  });
});

describe('flow of prints', () => {
  test('sums calls and puts of the expiry', () => {
    const prints = [
      print({ price: 5, size: 400 }),
      print({ price: 6, size: 300, strike: 110 }),
      print({ price: 2, size: 1000, callPut: -1, delta: -0.95 }),
      print({ price: 9, size: 900, expiry: LATER }),
    ];
    expect(flowOfPrints(prints.map(sumOf), EXPIRY)).toEqual({
      ...{ callPremium: 200_000 + 180_000, putPremium: 200_000, callContracts: 700, putContracts: 1000 },
      ...{ deepPremium: 200_000, counted: 3 },
    });
  });

  test('without prints the flow is 0', () => {
    const zeros = { callPremium: 0, putPremium: 0, callContracts: 0, putContracts: 0, deepPremium: 0, counted: 0 };
    expect(flowOfPrints([], EXPIRY)).toEqual(zeros);
    expect(flowOfPrints([sumOf(print({ expiry: LATER }))], EXPIRY)).toEqual(zeros);
  });
});

describe('flow of snapshots', () => {
  const days = [
    chainOf([
      contract({ volume: 10, bid: 1, ask: 2 }),
      contract({ strike: 105, volume: 4, bid: 0, ask: 0, last: 3 }),
      contract({ callPut: -1, volume: 5, bid: 2, ask: 2, multiplier: 10 }),
      contract({ strike: 110, volume: 0, bid: 1, ask: 2 }),
      contract({ strike: 115, volume: 9 }),
      contract({ strike: 120, bid: 1, ask: 2 }),
      contract({ expiry: LATER, volume: 99, bid: 1, ask: 1 }),
      contract({ root: 'ACME1', volume: 99, bid: 1, ask: 1 }),
    ]),
    chainOf([contract({ volume: 20, bid: 2, ask: 2 })]),
  ];

  test('values each contract-day as volume times the mid, else the last trade, with no minimum', () => {
    expect(flowsOfSnapshots(days).get(EXPIRY)).toEqual({
      ...{ callPremium: 10 * 1.5 * 100 + 4 * 3 * 100 + 20 * 2 * 100, putPremium: 5 * 2 * 10, callContracts: 34 },
      ...{ putContracts: 5, deepPremium: 0, counted: 4 },
    });
  });

  test('reports separately the premium of contracts too deep in the money to express an opinion', () => {
    const rows = [0.9, 0.91, -0.95, Number.NaN].map((delta, i) =>
      contract({ strike: 80 + i, volume: 1, last: 10 ** i, delta }),
    );
    expect(flowsOfSnapshots([chainOf(rows)]).get(EXPIRY)!.deepPremium).toBe(1_000 + 10_000);
  });

  test('no days give no flow', () => {
    expect(flowsOfSnapshots([]).size).toBe(0);
  });
});

describe('premium that expresses an opinion', () => {
  test('sums by series, with the roots of one date separate', () => {
    const premium = directionalPremium(
      [print(), print({ price: 1 }), print({ root: 'SPXW' }), print({ expiry: LATER, callPut: -1 })].map(sumOf),
    );
    expect(Object.fromEntries(premium)).toEqual({
      [`ACME ${EXPIRY}`]: 240_000,
      [`SPXW ${EXPIRY}`]: 200_000,
      [`ACME ${LATER}`]: 200_000,
    });
  });

  test.each([
    ['a leg of a spread', { multiLeg: true }, false],
    ['a call of delta 0.91', { delta: 0.91 }, false],
    ['a put of delta -0.91', { delta: -0.91, callPut: -1 as const }, false],
    ['a delta of 0.9', { delta: 0.9 }, true],
    ['an unknown delta', { delta: null }, true],
  ])('%s', (_what, overrides, expected) => {
    expect(directionalPremium([sumOf(print(overrides))]).size).toBe(expected ? 1 : 0);
  });
});
