import { expect, test } from 'bun:test';
import { lossCurvature, lossOf, lossSlope } from './plain-quote-loss.ts';

/** The kinks of the slope are at 0.6 and 5 half-widths, and at 0 for a bound. */
const ERRORS = [-40, -5.5, -4.5, -0.7, -0.5, -0.1, 0.2, 0.58, 0.62, 1, 4.9, 5.1, 90];
const STEP = 1e-4;

test.each([0, 1, -1])('slope and curvature of the loss, side %d', (side) => {
  for (const error of ERRORS) {
    const rise = lossOf(error + STEP, side) - lossOf(error - STEP, side);
    expect(lossSlope(error, side)).toBeCloseTo(rise / STEP / 4, 6);
    const bend = (lossSlope(error + STEP, side) - lossSlope(error - STEP, side)) / (2 * STEP);
    const isStraight = side === 0 && Math.abs(error) > 5;
    expect(lossCurvature(error, side)).toBeCloseTo(isStraight ? lossSlope(error, side) / error : bend, 6);
  }
});

test('an error within a bound costs nothing', () => {
  expect([lossOf(-2, 1), lossOf(2, -1)]).toEqual([0, 0]);
  expect(lossOf(2, 1)).toBe(lossOf(-2, -1));
  expect(lossOf(2, 1)).toBeGreaterThan(0);
});
