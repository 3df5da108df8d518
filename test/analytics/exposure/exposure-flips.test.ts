import { describe, expect, test } from 'bun:test';
import { exposuresOf, pricedExposures } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { exposureFlips } from '../../../src/analytics/exposure/exposure-flips.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { prepared, quoted, range } from '../small-chains.ts';

const weighed = (openInterest: (strike: number, callPut: number) => number) =>
  prepared(
    quoted({ strikes: range(70, 130, 2) }).map((row) => ({
      ...row,
      openInterest: openInterest(row.strike, row.callPut),
    })),
  );

describe('vanna and charm flips', () => {
  // Calls around spot: vanna is positive if spot is below them, negative if above.
  const book = weighed((strike, callPut) => (callPut === 1 && Math.abs(strike - 101) < 10 ? strike : 0));
  const flips = runToCompletion(exposureFlips(book));
  const pricedAt = (spot: number) => runToCompletion(pricedExposures(book, [spot], ''))[0]!;

  test('the exposure is close to 0 at the flip and has opposite signs on either side', () => {
    for (const [name, level] of [
      ['vex', flips.vanna],
      ['cex', flips.charm],
    ] as const) {
      expect(level).toBeWithin(80, 120);
      const at = (spot: number) => pricedAt(spot)[name];
      expect(Math.sign(at(level * 0.995))).toBe(-Math.sign(at(level * 1.005)));
      const scale = Math.max(...range(80, 120).map((spot) => Math.abs(at(spot))));
      expect(Math.abs(at(level)) / scale).toBeLessThan(2e-3);
    }
  });

  test('there is no flip near spot if the whole book has one sign', () => {
    // Only calls far above spot: vanna is positive and charm negative at all levels.
    const calls = weighed((strike, callPut) => (callPut === 1 && strike >= 128 ? 10 : 0));
    expect(runToCompletion(exposureFlips(calls)).vanna).toBeNaN();
  });

  test('exposures repriced at the current spot equal those of the chain', () => {
    const { dex, vex, cex } = runToCompletion(exposuresOf(book));
    expect(pricedAt(book.chain.spot)).toEqual({ dex, vex, cex });
  });
});
