import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { priceAxis, spacedTicks } from '../../../src/web/chart/price-axis.ts';

test('the axis has spot in its middle, and price is upward', () => {
  const axis = priceAxis(600, 10, 0, 400);
  expect([axis.low, axis.high]).toEqual([540, 660]);
  expect([axis.y(660), axis.y(600), axis.y(540)].map(Math.round)).toEqual([0, 200, 400]);
  expect(axis.priceAt(axis.y(612.5))).toBeCloseTo(612.5, 9);
});

test('a shift moves the middle by percent of spot', () => {
  const axis = priceAxis(600, 10, 5, 400);
  expect(axis.priceAt(200)).toBeCloseTo(630, 9);
});

test('prices are never negative', () => {
  expect(priceAxis(10, 60, -60, 400).low).toBe(0);
});

test('ticks are round, ascending and at least 40 pixels apart, for any range', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -6, max: 12, noNaN: true }),
      fc.double({ min: 0.01, max: 2, noNaN: true }),
      fc.integer({ min: 60, max: 2000 }),
      (magnitude, share, length) => {
        const low = 10 ** magnitude;
        const high = low * (1 + share);
        const ticks = spacedTicks(low, high, length);
        const y = (value: number) => ((value - low) / (high - low)) * length;
        for (let i = 1; i < ticks.length; i++)
          expect(y(ticks[i]!) - y(ticks[i - 1]!)).toBeGreaterThanOrEqual(40 - 1e-6);
        for (const tick of ticks) {
          // A round value is 1, 2 or 5 steps of a power of ten.
          const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : tick;
          const leading = Number(step.toExponential(6).split('e')[0]);
          if (ticks.length > 1) expect([1, 2, 5, 10].some((each) => Math.abs(leading - each) < 1e-3)).toBe(true);
          expect(tick).toBeGreaterThanOrEqual(low * (1 - 1e-9));
          expect(tick).toBeLessThanOrEqual(high * (1 + 1e-9));
        }
      },
    ),
    { numRuns: 300 },
  );
});
