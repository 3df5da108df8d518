import { describe, expect, test } from 'bun:test';
import { strikeGamma, strikeGammaOf, walls } from '../../../src/analytics/exposure/walls.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { contract, FEED_GAMMA, LATER, linesOf, prepared } from '../small-chains.ts';

/** The walls of strikes with the weighted gamma of the calls and of the puts. */
function wallsOf(text: string, spot = 100) {
  const column = (i: 0 | 1 | 2) => Float64Array.from(linesOf(text), (line) => line[i]);
  return walls({ strike: column(0), call: column(1), put: column(2) }, spot);
}

describe('walls', () => {
  const [SIDED, NOT] = [true, false];
  test.each([
    ['the largest strike of each side', '90 9/5, 95 9/6, 100 1/1, 105 4/9, 110 3/9', [105, SIDED], [95, SIDED]],
    ['spot itself belongs to both sides', '95 1/1, 100 7/8, 105 2/2', [100, SIDED], [100, SIDED]],
    ['a tie goes to the strike nearest spot', '90 0/5, 96 0/5, 104 5/0, 110 5/0', [104, SIDED], [96, SIDED]],
    ['no gamma: the nearest strike of each side', '90 0/0, 98 0/0, 103 0/0, 110 0/0', [103, SIDED], [98, SIDED]],
    ['no strike at or above spot: the nearest, flagged as not sided', '80 9/1, 90 1/9', [90, NOT], [90, SIDED]],
    ['no strike at or below spot: the nearest, flagged as not sided', '110 1/9, 120 9/1', [120, SIDED], [110, NOT]],
  ] as const)('%s', (_what, lines, call, put) => {
    const found = wallsOf(lines);
    expect([found.call, found.put]).toEqual([call, put].map(([strike, sided]) => ({ strike, sided })));
  });

  test('without the side rule: the largest strike, and the three largest of calls, puts and both', () => {
    const found = wallsOf('80 4/1, 90 9/2, 100 3/8, 110 5/7, 120 1/4.5');
    expect([found.callUnsided, found.putUnsided]).toEqual([90, 100]);
    expect(found.largestCalls).toEqual([90, 110, 80]);
    expect(found.largestPuts).toEqual([100, 110, 120]);
    expect(found.absolute).toBe(110);
    expect(found.call.strike).toBe(110);
  });

  test('of two strikes of equal gamma and distance, the lower comes first', () => {
    const found = wallsOf('90 5/3, 95 5/4, 105 5/4, 110 5/3');
    expect(found.largestCalls).toEqual([95, 105, 90]);
    expect(found.largestPuts).toEqual([95, 105, 90]);
    expect(found.absolute).toBe(95);
  });

  test('returns fewer than three strikes if there are no more', () => {
    expect(wallsOf('100 1/1').largestCalls).toEqual([100]);
  });
});

describe('gamma by strike', () => {
  const rows = [
    contract({ strike: 100, gamma: 0.02, openInterest: 10 }),
    contract({ strike: 100, callPut: -1, gamma: 0.02, openInterest: 4 }),
    contract({ strike: 100, gamma: 0.01, openInterest: 30, expiry: LATER, multiplier: 10 }),
    contract({ strike: 95, callPut: -1, gamma: 0.03, openInterest: 5, expiry: LATER }),
    contract({ strike: 120, gamma: 0.03, expiry: LATER }),
  ];

  test('sums gamma times contracts times shares over the series', () => {
    const { strike, call, put } = runToCompletion(strikeGamma(prepared(rows, FEED_GAMMA)));
    expect([...strike]).toEqual([95, 100, 120]);
    expect([...call]).toEqual([0, 0.02 * 10 * 100 + 0.01 * 30 * 10, 0]);
    expect([...put]).toEqual([0.03 * 5 * 100, 0.02 * 4 * 100, 0]);
  });

  test('of one series', () => {
    const ready = prepared(rows, FEED_GAMMA);
    const [, later] = ready.series;
    const { strike, call, put } = strikeGammaOf(ready, later!);
    expect([...strike]).toEqual([95, 100, 120]);
    expect([...call]).toEqual([0, 3, 0]);
    expect([...put]).toEqual([15, 0, 0]);
  });
});
