import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { priceAxis, spacedTicks } from '../../../web/chart/price-axis.ts';

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

test('ticks are round, ascending and at least 40 pixels apart, for any range of 1e-6 to 1e12, and a long axis has some', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -6, max: 12, noNaN: true }),
      // How many times the length of the range its middle is away from 0, on either side.
      fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1e6, max: 1e6, noNaN: true })),
      fc.integer({ min: 60, max: 2000 }),
      (magnitude, away, length) => {
        const span = 10 ** magnitude;
        const [low, high] = [(away - 0.5) * span, (away + 0.5) * span];
        const ticks = spacedTicks(low, high, length);
        // Steps are 1, 2 and 5 times a power of ten, so one of them is 40 to 100 pixels long.
        if (length >= 200) expect(ticks.length).toBeGreaterThanOrEqual(2);
        const steps = ticks.slice(1).map((tick, i) => tick - ticks[i]!);
        // The step without the error of a subtraction: one digit, and a power of ten.
        const step = Number((steps[0] ?? 1).toPrecision(1));
        expect([1, 2, 5]).toContain(Number(step.toExponential(0).split('e')[0]));
        for (const each of steps) {
          expect(each / step).toBeCloseTo(1, 3);
          expect((each / span) * length).toBeGreaterThanOrEqual(40 * (1 - 1e-6));
        }
        for (const tick of ticks) {
          expect(tick).toBeGreaterThanOrEqual(low - 1e-9 * span);
          expect(tick).toBeLessThanOrEqual(high + 1e-9 * span);
          if (steps.length > 0) expect(tick / step).toBeCloseTo(Math.round(tick / step), 3);
        }
      },
    ),
    { numRuns: 500 },
  );
});
