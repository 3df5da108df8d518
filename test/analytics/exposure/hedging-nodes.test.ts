import { describe, expect, test } from 'bun:test';
import { hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { blackScholesDelta } from '../plain.ts';
import { AS_OF, contract, EXPIRY, FEED_GAMMA, prepared, TODAY, yearsTo } from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' } as const;

describe('shares per +1 % move', () => {
  const rows = [
    contract({ strike: 105, gamma: 0.02, openInterest: 300 }),
    contract({ strike: 95, callPut: -1, gamma: 0.03, openInterest: 500, multiplier: 10 }),
    contract({ strike: 90, callPut: -1, gamma: 0.01, openInterest: 900, expiry: '2026-02-20' }),
    contract({ strike: 120, gamma: 0.01 }),
  ];
  const nodes = hedgingNodes(prepared(rows, { ...FEED_GAMMA, iv: 'own' }), 10);

  test('are ordered by size regardless of sign, and contracts without effect are left out', () => {
    // A dealer who is long calls sells into a rise. One who is short puts is short gamma and buys into it.
    expect(nodes.map(({ strike, dealerShares }) => [strike, dealerShares])).toEqual([
      [90, 0.01 * 900 * 100],
      [105, -0.02 * 300 * 100],
      [95, 0.03 * 500 * 10],
    ]);
  });

  test('each node names its contract', () => {
    expect(nodes[0]).toMatchObject({
      ...{ strike: 90, callPut: -1, expiry: '2026-02-20', root: 'ACME' },
      ...{ dealerShares: 900, deltaFlux: 0, inputs: { position: -900, multiplier: 100, gamma: 0.01, iv: 0 } },
    });
  });

  test('returns the requested count', () => {
    const ready = prepared(rows, FEED_GAMMA);
    expect([0, 1, 2, 10].map((limit) => hedgingNodes(ready, limit).length)).toEqual([0, 1, 2, 3]);
  });

  test('shares are rounded to integers', () => {
    const [node] = hedgingNodes(prepared([contract({ gamma: 0.01234, openInterest: 7 })], FEED_GAMMA), 1);
    expect(node!.dealerShares).toBe(-9);
  });
});

describe('shares over the next day', () => {
  const delta = (callPut: number, strike: number, tte: number, iv: number) =>
    blackScholesDelta({ callPut, spot: 100, strike, tte, iv, rate: 0, dividend: 0 });
  const [now, day] = [yearsTo('ACME', EXPIRY), 1 / 365.25];

  test.each([
    ['an out-of-the-money call loses delta: dealers buy back the hedge', 1, 105],
    ['an in-the-money call gains delta', 1, 95],
    ['an out-of-the-money put', -1, 95],
    ['an in-the-money put', -1, 105],
  ])('%s', (_what, callPut, strike) => {
    const row = contract({ strike, callPut, iv: 0.3, openInterest: 50 });
    const [node] = hedgingNodes(prepared([row], FLAT), 1);
    const change = delta(callPut, strike, now - day, 0.3) - delta(callPut, strike, now, 0.3);
    expect(node!.deltaFlux).toBeCloseTo(-callPut * change * 50 * 100, 6);
    const lost = callPut * (strike - 100) > 0;
    expect(Math.sign(node!.deltaFlux)).toBe(lost ? 1 : -1);
  });

  test.each([
    ['an hour before settlement, in the money: delta goes to 1', 98, 1, 1],
    ['an hour before settlement, out of the money: delta goes to 0', 102, 1, 0],
    ['an hour before settlement, a put in the money: delta goes to -1', 102, -1, -1],
  ])('%s', (_what, strike, callPut, settled) => {
    const row = contract({ strike, callPut, iv: 0.5, openInterest: 50, expiry: TODAY });
    const [node] = hedgingNodes(prepared([row], FLAT), 1);
    const change = settled - delta(callPut, strike, yearsTo('ACME', TODAY), 0.5);
    expect(node!.deltaFlux).toBeCloseTo(-callPut * change * 50 * 100, 6);
  });

  test('is finite in the last minutes at the money', () => {
    const row = contract({ iv: 0.5, openInterest: 50, expiry: TODAY });
    const [node] = hedgingNodes(prepared([row], FLAT, { asOf: AS_OF + 3_599_000 }), 1);
    expect(node!.deltaFlux).toBeFinite();
    expect(Math.abs(node!.deltaFlux)).toBeLessThanOrEqual(50 * 100);
  });
});
