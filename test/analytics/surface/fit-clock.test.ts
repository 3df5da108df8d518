import { describe, expect, test } from 'bun:test';
import { fitClock, type VariancePoint } from '../../../src/analytics/surface/fit-clock.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import type { SurfaceSlice } from '../../../src/analytics/surface/fitted-surface.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { closeOf, DAY_MS, newYorkDate, openOf } from '../../../src/market/calendar.ts';
import { CALENDAR, type ClockWeights, DEFAULT_WEIGHTS, VarianceClock } from '../../../src/market/variance-clock.ts';
import { volatilityOf } from '../plain.ts';
import { AS_OF as MARKET_AS_OF } from '../small-chains.ts';
import { MODELS, market } from './known-markets.ts';

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
  expect(fitClock(AS_OF, even.slice(0, 4)).weights).toEqual(DEFAULT_WEIGHTS);
});

const PAIRED = ['2026-01-16', '2026-02-20', '2026-03-20', '2026-04-17'];

describe.each(MODELS)('settlements at the open and the close of four dates in a market of %s', (_name, model) => {
  test.each([0.2, 0.5, 0.8])('a night of %d', (night) => {
    const clock = new VarianceClock(MARKET_AS_OF, { night, shutDay: 0.05 });
    const { slices, clock: fitted } = runToCompletion(fitSurface(market(model, clock, PAIRED)));
    const { weights } = fitted as { weights: ClockWeights };
    expect(Math.abs(weights.night - night)).toBeLessThan(0.1);
    expect(weights.nightFit!.pairs).toBe(4);
    expect(weights.nightFit!.error).toBeWithin(0.001, 0.1);
    // Each law is that of the market, although those of one date are nearly alike.
    for (const { settlesAt, atmVariance, fit } of slices) {
      const years = clock.years(settlesAt);
      // Bands are of a cent and a half. One quote may miss its band by a small part of it.
      expect(fit.outside).toBeLessThanOrEqual(1);
      expect(Math.sqrt(atmVariance) / volatilityOf(1, 1, model(1, 1, years)) - 1).toBeWithin(-0.0015, 0.0015);
    }
    // The session between the two settlements has the variance per time of the intervals around it, within the bands.
    for (const [i, { settlesAt }] of slices.entries()) {
      const [before, open, close, after] = slices.slice(i - 1, i + 3);
      if (after === undefined || newYorkDate(settlesAt) !== newYorkDate(close!.settlesAt)) continue;
      const rate = (from: SurfaceSlice, to: SurfaceSlice) =>
        (to.atmVariance - from.atmVariance) / (to.years - from.years);
      const band = (of: SurfaceSlice) => 2 * of.atmVariance * of.fit.atmBand;
      const session = rate(open!, close!);
      const [early, late] = [rate(before!, open!), rate(close!, after)];
      const width = (band(open!) + band(close!)) / (close!.years - open!.years);
      expect(session).toBeWithin(Math.min(early, late) - width, Math.max(early, late) + width);
    }
  });
});

describe('the weight of a night by points', () => {
  const WEEKS = [2, 5, 9, 16, 23, 30, 37, 58, 86, 114];
  const points = (
    night: number,
    band: number | undefined,
    change: (variance: number, i: number) => number = (v) => v,
  ) => {
    const clock = new VarianceClock(AS_OF, { night, shutDay: 0.05 });
    return WEEKS.flatMap((day, i) => {
      const date = newYorkDate(AS_OF + day * DAY_MS);
      const instants = i % 2 === 1 ? [openOf(date), closeOf(date)] : [closeOf(date)];
      return instants.map((settlesAt) => {
        const variance = change(0.04 * clock.years(settlesAt), i);
        return { settlesAt, variance, ...(band !== undefined && { band }) };
      });
    });
  };
  const weightsOf = (all: readonly VariancePoint[]) => fitClock(AS_OF, all).weights as ClockWeights;

  test.each<[string, number, VariancePoint[]]>([
    ['narrow bands: the pairs', 0.8, points(0.8, 0.002)],
    ['bounds', 1, points(1.4, 0.001)],
    ['bounds', 0.1, points(0.02, 0.001)],
    ['wide bands: near the default', 0.5, points(0.8, 0.5)],
    [
      'an event in the interval after the only pair',
      0.8,
      points(0.8, 0.0005, (v, i) => v + (i > 1 ? 0.0004 : 0)).slice(0, 4),
    ],
    [
      'an event in the interval before a pair',
      0.8,
      points(0.8, 0.0005, (v, i) => v + (i > 2 ? 0.0004 : 0)).slice(0, 7),
    ],
    ['a chain of three settlements with a pair', 0.8, points(0.8, 0.001).slice(1, 4)],
  ])('%s', (_, expected, all) => {
    const { night, nightFit } = weightsOf(all);
    expect(Math.abs(night - expected)).toBeLessThan(0.1);
    expect(nightFit!.pairs).toBeGreaterThan(0);
  });

  test.each<[string, VariancePoint[]]>([
    ['volatilities of the feed', points(0.8, undefined)],
    ['nothing after the only pair', points(0.8, 0.001).slice(0, 3)],
    ['no date with both settlements', points(0.8, 0.001).filter((_, i) => i % 3 === 0)],
  ])('is the default: %s', (_, all) => {
    const { night, nightFit } = weightsOf(all);
    expect([night, nightFit]).toEqual([0.5, undefined]);
  });
});
