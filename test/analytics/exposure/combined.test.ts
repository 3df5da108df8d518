import { describe, expect, test } from 'bun:test';
import { combine } from '../../../src/analytics/exposure/combined.ts';
import { exposuresOf } from '../../../src/analytics/exposure/dollar-exposures.ts';
import { netGammaProfile } from '../../../src/analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { contract, FEED_GAMMA, prepared, type Quotes, quoted, range } from '../small-chains.ts';

/** The same options on an underlying at `scale` times the price, with the same open interest in dollars. */
function readAt(scale: number, share: number, overrides: Partial<Quotes> = {}) {
  const rows = quoted({
    strikes: range(85, 115, 2.5).map((strike) => strike * scale),
    spot: 100 * scale,
    iv: (strike) => 0.2 + (0.1 * (100 - strike / scale)) / 100,
    ...overrides,
  });
  const open = rows.map((row, i) => ({ ...row, openInterest: ((1_000 + ((i * 331) % 700)) * share) / scale }));
  return prepared(open, {}, { spot: 100 * scale });
}

describe('an index plus a fund that holds part of it equals the whole index', () => {
  const whole = readAt(40, 1);
  const both = runToCompletion(combine(readAt(40, 0.3), readAt(4, 0.7)));
  const levels = runToCompletion(gexLevels(whole, new Map()));

  test('the ratio is the ratio of the spots', () => {
    expect(both.ratio).toBe(10);
  });

  test.each(['gex', 'grossGex', 'dex', 'vex', 'cex'] as const)('%s', (name) => {
    expect(both.exposures[name] / runToCompletion(exposuresOf(whole))[name]).toBeCloseTo(1, 9);
    expect(both.index[name] / runToCompletion(exposuresOf(whole))[name]).toBeCloseTo(0.3, 9);
    expect(both.fund[name] / runToCompletion(exposuresOf(whole))[name]).toBeCloseTo(0.7, 9);
  });

  test('flip and walls', () => {
    expect(both.flip.resolved).toBe(true);
    expect(both.flip.level).toBeCloseTo(levels.flip.level, 6);
    expect(both.walls.call).toEqual(levels.walls.call);
    expect(both.walls.put).toEqual(levels.walls.put);
    expect(both.walls.largestCalls).toEqual(levels.walls.largestCalls);
  });

  test('the profile and its two parts', () => {
    const { level, gex } = runToCompletion(netGammaProfile(whole, 0.2));
    expect(both.profile.level).toEqual(level);
    for (const [i, each] of gex.entries()) {
      expect(both.profile.gex[i]! / 1e6).toBeCloseTo(each / 1e6, 8);
      expect((both.indexGex[i]! + both.fundGex[i]!) / 1e6).toBeCloseTo(each / 1e6, 8);
      expect(both.fundGex[i]! / 1e6).toBeCloseTo((0.7 * each) / 1e6, 8);
    }
  });
});

test('the fund’s exposure at a strike is converted to the prices of the index', () => {
  const of = (strike: number, openInterest: number, callPut: 1 | -1) =>
    contract({ strike, gamma: 0.001, openInterest, callPut });
  for (const callPut of [1, -1] as const) {
    const index = prepared([of(4_000, 10, callPut), of(4_100, 20, callPut)], FEED_GAMMA, { spot: 4_050 });
    // The fund has a fortieth of the price: 1,600 contracts of the fund equal one of the index with the same gamma.
    const most = (openInterest: number) => {
      const fund = prepared([of(100, openInterest, callPut)], FEED_GAMMA, { spot: 101.25 });
      const { largestCalls, largestPuts } = runToCompletion(combine(index, fund)).walls;
      return (callPut === 1 ? largestCalls : largestPuts)[0]!;
    };
    expect([15_900, 16_100].map(most)).toEqual([4_100, 4_000]);
  }
});

test('the fund’s strikes count at the nearest strike of the index', () => {
  // 100.4 times 40 is nearer to 4,000 than to 4,100. A strike beyond the last counts at the last.
  const index = prepared(
    quoted({ strikes: [3_900, 4_000, 4_100], spot: 4_000, rest: { openInterest: 1 } }),
    {},
    { spot: 4_000 },
  );
  const fund = prepared(
    quoted({ strikes: [100.4, 120], rest: { openInterest: 1_000_000 } }).filter(({ callPut }) => callPut === 1),
  );
  expect(runToCompletion(combine(index, fund)).walls.largestCalls.slice(0, 2)).toEqual([4_000, 4_100]);
});
