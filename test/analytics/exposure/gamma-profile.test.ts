import { describe, expect, test } from 'bun:test';
import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { levelsWithin, netGammaProfile, positionsOf } from '../../../src/analytics/exposure/gamma-profile.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Column } from '../../../src/math/kernels.ts';
import { netGex } from '../plain.ts';
import { contract, contractsIn, EXPIRY, LATER, prepared, TODAY } from '../small-chains.ts';

const positions = (ready: PreparedChain) => runToCompletion(positionsOf(ready));
const FLAT = { forward: 'flat', rate: 0, dividend: 0 } as const;

test('levels are a quarter percent of spot apart and include spot', () => {
  const level = levelsWithin(0.2, 100);
  expect(level).toHaveLength(161);
  expect([level[0], level[80], level[160]]).toEqual([80, 100, 120]);
  expect(level[81]! - level[80]!).toBeCloseTo(0.25, 12);
});

function list(column: Column): number[] {
  return typeof column === 'number' ? [column] : [...column];
}

describe('positions', () => {
  const put = (strike: number, openInterest: number, iv = 0.3) =>
    contract({ strike, callPut: -1, openInterest, iv, multiplier: 10 });
  const call = (strike: number, openInterest: number, iv = 0.3) =>
    contract({ strike, openInterest, iv, multiplier: 10 });

  test('a call and its put count as one position with the net gamma of both', () => {
    const { wide } = positions(prepared([call(100, 7), put(100, 3), put(105, 2, Number.NaN), call(105, 0)], FLAT));
    expect(list(wide.strike)).toEqual([100, 105]);
    expect(list(wide.weight)).toEqual([40, -20]);
  });

  test('with separate volatilities they are two positions', () => {
    const rows = [call(100, 7, 0.3), put(100, 3, 0.4), call(105, 5, 0.2), put(105, 1, 0.2)];
    const { wide } = positions(prepared(rows, { ...FLAT, iv: 'own' }));
    expect(list(wide.weight)).toEqual([70, -30, 40]);
    expect(list(wide.iv)).toEqual([0.3, 0.4, 0.2]);
  });

  test('contracts that cancel out, have no weight or no volatility are no positions', () => {
    const rows = [call(100, 5), put(100, 5), call(105, 0), contract({ strike: 110, openInterest: 9 })];
    const { wide, narrow } = positions(prepared(rows, { ...FLAT, iv: 'own' }));
    expect([wide.count, narrow.count]).toEqual([0, 0]);
  });

  test.each([
    ['days', EXPIRY, 0.3, 1, 0],
    // The root of an hour in years is 0.0107.
    ['an hour at 30 %', TODAY, 0.3, 0, 1],
    ['an hour at 46 %', TODAY, 0.46, 0, 1],
    ['an hour at 47 %', TODAY, 0.47, 1, 0],
  ])('a position is wide if its deviation is at least two grid steps: %s', (_what, expiry, iv, wides, narrows) => {
    const { wide, narrow } = positions(prepared([{ ...call(100, 1, iv), expiry }], FLAT));
    expect([wide.count, narrow.count]).toEqual([wides, narrows]);
  });
});

test('the net profile is the sum over all contracts, wide and narrow', () => {
  const rows = [
    contract({ strike: 98, callPut: -1, iv: 0.3, openInterest: 20 }),
    contract({ strike: 101, iv: 0.3, openInterest: 10, expiry: TODAY }),
    contract({ strike: 103, iv: 0.2, openInterest: 30, expiry: LATER }),
    contract({ strike: 103, callPut: -1, iv: 0.2, openInterest: 12, expiry: LATER }),
  ];
  const ready = prepared(rows, FLAT);
  expect(positions(ready).narrow.count).toBe(1);
  const { level, gex } = runToCompletion(netGammaProfile(ready, 0.2));
  for (const i of [40, 72, 80, 83, 84, 92, 130]) {
    const expected = netGex(contractsIn(ready), level[i]!);
    expect(Math.abs(gex[i]! - expected)).toBeLessThan(1e-6 * Math.max(...gex.map(Math.abs)));
  }
});
