import { describe, expect, test } from 'bun:test';
import { refineProfile, sketchProfile } from '../../../src/analytics/exposure/gamma-flip.ts';
import { levelsWithin, netGexAtLevels, positionsOf } from '../../../src/analytics/exposure/gamma-profile.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { contract, LATER, prepared, range, TODAY } from '../small-chains.ts';

const FLAT = { forward: 'flat', rate: 0, dividend: 0, iv: 'own' } as const;
const LEVEL = levelsWithin(0.2, 100);

/** Random open interest on the strikes of one expiry. */
function book(seed: number, iv: number, rest: Partial<ContractRow> = {}): ContractRow[] {
  const random = generator(seed);
  return range(85, 115).flatMap((strike) =>
    [1, -1].map((callPut) =>
      contract({ strike, callPut, iv, openInterest: Math.floor(1000 * random() ** 3), ...rest }),
    ),
  );
}

describe('the error of a sketch is within its bound', () => {
  test.each([
    ['a smooth profile', book(1, 0.3)],
    // Half a percent in an hour: the narrowest deviation of a wide position.
    ['the most jagged profile that is sketched', book(2, 0.47, { expiry: TODAY })],
    ['several expiries', [...book(3, 0.5, { expiry: TODAY }), ...book(4, 0.2), ...book(5, 0.3, { expiry: LATER })]],
  ])('%s', (_what, rows) => {
    const positions = runToCompletion(positionsOf(prepared(rows, FLAT)));
    expect(positions.narrow.count).toBe(0);
    const exact = runToCompletion(netGexAtLevels(positions, LEVEL));
    const { gex, errorBound } = runToCompletion(sketchProfile(positions, LEVEL));
    const largest = Math.max(...exact.map(Math.abs));
    for (let i = 0; i < LEVEL.length; i++) expect(Math.abs(gex[i]! - exact[i]!)).toBeLessThanOrEqual(errorBound[i]!);
    // The sketch must decide the sign of most levels.
    expect(gex.filter((each, i) => Math.abs(each) > errorBound[i]!).length).toBeGreaterThan(120);
    expect(Math.max(...errorBound)).toBeGreaterThan(1e-6 * largest);
  });
});

test('narrow peaks are computed exactly, although they lie between the points of the grid', () => {
  const positions = runToCompletion(positionsOf(prepared(book(6, 0.03, { expiry: TODAY }), FLAT)));
  expect(positions.wide.count).toBe(0);
  const { gex, errorBound } = runToCompletion(sketchProfile(positions, LEVEL));
  expect([...gex]).toEqual([...runToCompletion(netGexAtLevels(positions, LEVEL))]);
  expect(Math.max(...errorBound)).toBe(0);
});

test('sharpened levels are exact, and the other levels do not change', () => {
  const positions = runToCompletion(positionsOf(prepared(book(7, 0.3), FLAT)));
  const before = runToCompletion(sketchProfile(positions, LEVEL));
  const sketch = runToCompletion(sketchProfile(positions, LEVEL));
  const exact = runToCompletion(netGexAtLevels(positions, LEVEL));
  expect(runToCompletion(refineProfile(sketch, positions, (i) => i === 3 || i === 90))).toBe(true);
  for (const i of [3, 90]) {
    expect(sketch.errorBound[i]).toBe(0);
    expect(Math.abs(sketch.gex[i]! / exact[i]! - 1)).toBeLessThan(1e-11);
  }
  expect(sketch.gex[4]).toBe(before.gex[4]!);
  expect(sketch.errorBound[4]).toBe(before.errorBound[4]!);
});

test('exact levels are not computed again', () => {
  const positions = runToCompletion(positionsOf(prepared(book(8, 0.3), FLAT)));
  const sketch = runToCompletion(sketchProfile(positions, LEVEL));
  expect(runToCompletion(refineProfile(sketch, positions, (i) => i < 9))).toBe(true);
  expect(runToCompletion(refineProfile(sketch, positions, (i) => i < 9))).toBe(false);
  expect(runToCompletion(refineProfile(sketch, positions, () => false))).toBe(false);
});
