import { expect, test } from 'bun:test';
import { fitClock, type VariancePoint } from '../../../src/analytics/surface/fit-clock.ts';
import { closeOf, DAY_MS, newYorkDate } from '../../../src/market/calendar.ts';
import { CALENDAR, DEFAULT_WEIGHTS, VarianceClock } from '../../../src/market/variance-clock.ts';

const AS_OF = Date.parse('2026-11-25T16:00:00Z');

/** Returns variances that accrue by a clock, with an error of at most `error` as a share. */
function pointsBy(clock: VarianceClock, days: readonly number[], error: number, seed: number): VariancePoint[] {
  return days.map((day, i) => {
    const settlesAt = closeOf(newYorkDate(AS_OF + day * DAY_MS));
    return { settlesAt, variance: 0.06 * clock.years(settlesAt) * (1 + error * Math.sin(seed + 7 * i)) };
  });
}

/** The fit with a clock for each weight, which counts all days again. */
function plainWeight(points: readonly VariancePoint[]): number {
  const y = points.map(({ variance }) => Math.log(variance));
  const roughness = Array.from({ length: 31 }, (_, i) => {
    const clock = new VarianceClock(AS_OF, { ...DEFAULT_WEIGHTS, shutDay: (i / 30) * 0.3 });
    const x = points.map(({ settlesAt }) => Math.log(clock.years(settlesAt)));
    const squares = x.slice(2).map((_, j) => {
      const share = (x[j + 1]! - x[j]!) / (x[j + 2]! - x[j]!);
      return ((y[j + 1]! - y[j]! - share * (y[j + 2]! - y[j]!)) / 2) ** 2;
    });
    const kept = squares.sort((a, b) => a - b).slice(0, squares.length - Math.ceil(0.3 * squares.length));
    const pull = (0.003 * ((i / 30) * 0.3 - DEFAULT_WEIGHTS.shutDay)) / 0.1;
    return kept.reduce((sum, each) => sum + each, 0) / kept.length + pull * pull;
  });
  return (roughness.indexOf(Math.min(...roughness)) / 30) * 0.3;
}

const DAYS = [
  [2, 9, 16, 23, 30],
  [1, 2, 5, 6, 7, 8, 9, 12, 16, 23, 30, 37, 58, 86, 114],
  [2, 5, 7, 12, 14, 23, 37, 100],
];

for (const [i, days] of DAYS.entries()) {
  test(`the weight of a day without trading equals that of a clock for each weight: expiries ${i}`, () => {
    for (let seed = 0; seed < 30; seed++) {
      const shutDay = 0.01 * seed;
      const clock = new VarianceClock(AS_OF, { ...DEFAULT_WEIGHTS, shutDay });
      const points = pointsBy(clock, days, 0.002, seed);
      const { weights } = fitClock(AS_OF, points);
      if (weights !== CALENDAR) expect(weights.shutDay).toBe(plainWeight(points));
    }
  });
}

test('variances that accrue evenly over calendar time give calendar time, and four expiries the default', () => {
  const even = pointsBy(new VarianceClock(AS_OF, CALENDAR), DAYS[1]!, 0, 0);
  expect(fitClock(AS_OF, even).weights).toBe(CALENDAR);
  expect(fitClock(AS_OF, even.slice(0, 4)).weights).toBe(DEFAULT_WEIGHTS);
});
