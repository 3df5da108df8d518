import { describe, expect, test } from 'bun:test';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../../../src/analytics/surface/fitted-surface.ts';
import { jumpLawAt } from '../../../src/analytics/surface/jump-diffusion-law.ts';
import { touchGridOf } from '../../../src/analytics/surface/touch-grid.ts';
import { jumpTouch, pathTouches, touchRange } from '../../../src/analytics/surface/touch-probability.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { CALENDAR, VarianceClock } from '../../../src/market/variance-clock.ts';
import { passage } from '../../../src/math/first-passage.ts';
import {
  type Heston,
  heston,
  type JumpTerms,
  type Model,
  mertonMarket,
  type SsviShape,
  ssvi,
} from '../../support/known-laws.ts';
import { IS_FULL } from '../../support/size.ts';
import { AS_OF } from '../small-chains.ts';
import { MODELS, market, withEvent } from './known-markets.ts';
import {
  BARRIERS,
  eventTouches,
  hestonTouches,
  mertonTouches,
  QUOTED_SPOT,
  ssviTouches,
  type Touches,
  tickMarket,
} from './known-touches.ts';

const SIZE = IS_FULL ? 5 : 1;

/** A market, and the horizons at which it is compared with its truth, days from the quotes to settlements. */
interface Known {
  readonly model: Model;
  readonly touches: Touches;
  readonly days: readonly number[];
}

const SSVI: Record<string, SsviShape> = {
  skewed: [(years) => 0.04 * years + 0.01 * (1 - Math.exp(-2 * years)), -0.6, 1, 0.45],
  steep: [(years) => 0.03 * years, -0.75, 1.2, 0.4],
  inverted: [(years) => 0.03 * years + 0.008 * (1 - Math.exp(-5 * years)), -0.4, 0.8, 0.5],
};
const HESTON: Record<string, Heston> = {
  slow: { v0: 0.04, kappa: 1.8, mean: 0.05, vol: 0.5, rho: -0.65 },
  fast: { v0: 0.05, kappa: 3, mean: 0.06, vol: 0.8, rho: -0.7 },
  symmetric: { v0: 0.06, kappa: 1.5, mean: 0.06, vol: 0.8, rho: 0 },
};
const MERTON: Record<string, JumpTerms> = {
  falls: { iv: 0.16, jumpIntensity: 1.2, jumpMean: -0.07, jumpVol: 0.06 },
  rare: { iv: 0.18, jumpIntensity: 0.3, jumpMean: -0.2, jumpVol: 0.1 },
  often: { iv: 0.12, jumpIntensity: 5, jumpMean: -0.03, jumpVol: 0.05 },
};
/** The everyday run has the first market of each kind. */
const some = <T>(markets: Record<string, T>) => Object.values(markets).slice(0, IS_FULL ? 3 : 1);

const ssviMarkets = (days: readonly number[]) =>
  some(SSVI).map((shape) => ({ model: ssvi(...shape), touches: ssviTouches(shape), days }));
const hestonMarkets = (days: readonly number[]) =>
  some(HESTON).map((terms) => ({
    model: heston(terms),
    touches: hestonTouches(terms, 4_000 * SIZE, 40 * SIZE),
    days,
  }));
const mertonMarkets = (days: readonly number[]) =>
  some(MERTON).map((terms) => ({ model: mertonMarket(terms), touches: mertonTouches(terms, 20_000 * SIZE), days }));

describe('touching a strike, against markets whose truth is known', () => {
  test('local volatility: within 0.02', () => {
    const errors = ssviMarkets(IS_FULL ? [11, 102, 382] : [102]).flatMap((known) => pathErrors(known));
    expect(Math.max(...errors)).toBeLessThan(0.016);
  });

  test('Heston up to 60 days: usually within 0.03', () => {
    const errors = hestonMarkets(IS_FULL ? [11, 39] : [39]).flatMap((known) => pathErrors(known));
    expect(shareWithin(errors, 0.03)).toBeGreaterThanOrEqual(0.9);
    expect(Math.max(...errors)).toBeLessThan(0.05);
  });

  test('Heston at later horizons, and Merton: the truth is in the range', () => {
    const known = [
      ...hestonMarkets(IS_FULL ? [102, 382] : [102]),
      ...mertonMarkets(IS_FULL ? [11, 39, 102, 382] : [11, 102]),
    ];
    const rows = known.flatMap((each) => ranges(each));
    expect(rows.filter(({ low, high, truth }) => truth >= low && truth <= high).length).toBeGreaterThanOrEqual(
      0.95 * rows.length,
    );
    expect(rows.reduce((sum, { low, high }) => sum + high - low, 0)).toBeLessThan(0.12 * rows.length);
  });

  test('a dated event passes in one step', () => {
    const [move, at] = [0.08, 0.06];
    const flat: Model = MODELS[0]![1];
    const surface = runToCompletion(fitSurface(market(withEvent(flat, move, at), new VarianceClock(AS_OF, CALENDAR))));
    const slice = surface.slices.find(({ tte }) => tte > 0.1)!;
    const deviation = Math.sqrt(slice.atmVariance);
    const truth = eventTouches(
      0.3,
      move,
      at,
      20_000 * SIZE,
    )(
      slice.tte,
      BARRIERS.map((z) => z * deviation),
    );
    for (const [i, z] of BARRIERS.entries()) {
      const strike = surface.spot * Math.exp(z * deviation);
      const { local } = runToCompletion(
        pathTouches(surface, slice, { spot: surface.spot, strike, forward: slice.forward }),
      );
      expect(Math.abs(local - truth[i]!), `${z}`).toBeLessThan(0.02);
    }
  });
});

// The first settlement is quoted to 2.3 standard deviations.
test.each([
  [0.004, 0.002],
  [0.2, 0.001],
  [4, 0.001],
])(
  'a flat volatility, %d years: the closed form, also before the first and after the last settlement',
  (years, error) => {
    const surface = runToCompletion(fitSurface(market(MODELS[0]![1], new VarianceClock(AS_OF, CALENDAR))));
    const grid = runToCompletion(touchGridOf(surface));
    const horizon = surface.lawAt(AS_OF + years * 365.25 * 86_400_000);
    const deviation = Math.sqrt(horizon.atmVariance);
    for (const z of BARRIERS) {
      const drift = Math.log(horizon.forward / surface.spot) - horizon.atmVariance / 2;
      const walk = { start: Math.abs(z) * deviation, drift: -Math.sign(z) * drift, variance: horizon.atmVariance };
      const truth = runToCompletion(passage({ ...walk, jumps: 0, jumpMean: 0, jumpWidth: 0 }));
      const found = grid.probability(surface.spot * Math.exp(z * deviation), horizon, 'local');
      expect(Math.abs(found - truth), `${z}`).toBeLessThan(error);
    }
  },
);

test('probabilities fall with the distance of the strike, and rise with the horizon', () => {
  const surface = surfaceOf({ model: heston(HESTON.fast!), touches: () => [], days: [] });
  const grid = runToCompletion(touchGridOf(surface));
  for (const path of ['local', 'random'] as const) {
    for (const side of [1, -1]) {
      const at = (distance: number, days: number) =>
        grid.probability(surface.spot * Math.exp(side * distance), surface.lawAt(AS_OF + days * 86_400_000), path);
      for (const days of [1, 5, 40, 200, 1000]) {
        let before = 1;
        for (let distance = 0.001; distance < 0.6; distance *= 1.1) {
          const found = at(distance, days);
          expect(found).toBeWithin(0, before + 1e-12);
          expect(at(distance, days * 1.1)).toBeGreaterThanOrEqual(found - 1e-9);
          before = found;
        }
      }
    }
  }
});

function surfaceOf({ model }: Known): FittedSurface {
  // The price at the money gives the deviation well enough for a choice of strikes.
  return runToCompletion(fitSurface(tickMarket(model, (years) => Math.sqrt(2 * Math.PI) * model(1, 1, years))));
}

/** Compares the market's surface at the horizons with the truth. */
function* compared(known: Known) {
  const surface = surfaceOf(known);
  for (const days of known.days) {
    const slice = surface.slices.find(({ tte }) => Math.round(tte * 365.25) === days)!;
    const deviation = Math.sqrt(slice.atmVariance);
    const truth = known.touches(
      slice.tte,
      BARRIERS.map((z) => z * deviation),
    );
    for (const [i, z] of BARRIERS.entries()) {
      const strike = QUOTED_SPOT * Math.exp(z * deviation);
      const barrier = { spot: QUOTED_SPOT, strike, forward: slice.forward };
      const paths = runToCompletion(pathTouches(surface, slice, barrier));
      yield { surface, slice, barrier, paths, truth: truth[i]! };
    }
  }
}

function pathErrors(known: Known): number[] {
  return [...compared(known)].map(({ paths, truth }) => Math.abs(paths.blend - truth));
}

function ranges(known: Known) {
  return [...compared(known)].map(({ surface, slice, barrier, paths, truth }) => {
    const jumps = [0.5, 0.95].map((noJump) => runToCompletion(jumpLawAt(surface, slice.settlesAt, noJump)));
    const touches = jumps.map(({ law, jumpDiffusion }) => runToCompletion(jumpTouch(law, jumpDiffusion, barrier)));
    return { ...touchRange([paths.blend, paths.local, paths.random, ...touches], jumps[0]!.law, barrier), truth };
  });
}

function shareWithin(errors: readonly number[], bound: number): number {
  return errors.filter((each) => each <= bound).length / errors.length;
}
