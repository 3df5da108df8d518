import { expect, test } from 'bun:test';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import {
  callsAt,
  chainOfStep,
  knotsOf,
  massesOf,
  stepsBetween,
  unitOf,
  windowsOf,
} from '../../../src/analytics/surface/path-law.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { VarianceClock } from '../../../src/market/variance-clock.ts';
import { AS_OF } from '../small-chains.ts';
import { MODELS, market } from './known-markets.ts';

test.each(MODELS)('%s: paths lead from the distribution at each knot to that at the next', (_name, model) => {
  const surface = runToCompletion(fitSurface(market(model, new VarianceClock(AS_OF))));
  const knots = knotsOf(surface, new Map([[3, 1e-4]]));
  const known = new Set(knots.map(({ years }) => years));
  expect(surface.slices.filter(({ years }) => !known.has(years))).toBeEmpty();
  const unit = unitOf(knots[0]!);
  const windows = windowsOf(knots, unit);
  let next = callsAt(knots[0]!, windows[0]!, windows[0]!, unit);
  for (const [i, window] of windows.entries()) {
    const { price } = window;
    const own = next[1];
    next = callsAt(knots[i + 1]!, window, windows[i + 1] ?? window, unit);
    const paths = massesOf(own, price);
    for (const step of stepsBetween(knots[i]!, knots[i + 1]!, window, [own, next[0]])) {
      chainOfStep(step, price).below(price.length, paths, new Float64Array(price.length));
    }
    const law = massesOf(next[0], price);
    const forward = law.reduce((sum, mass, j) => sum + mass * price[j]!, 0);
    expect(Math.abs(forward / knots[i + 1]!.forward - 1)).toBeLessThan(1e-4);
    // Further out, the wings of a law may grow faster than the limit of the local variance permits.
    const reach = 3 * knots[i]!.deviation;
    const errors = paths.map((mass, j) => (Math.abs(Math.log(price[j]!)) < reach ? Math.abs(mass - law[j]!) : 0));
    expect(Math.max(...errors)).toBeLessThan(1e-4);
  }
});
