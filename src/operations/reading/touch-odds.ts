import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { touchProbabilities, touchProducts } from '../../analytics/surface/touch-probability.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { touchCost } from '../engine/request-cost.ts';
import { jumpLawOf } from './chain-surface.ts';

/** The default of `stag_prob` in `calculate_merton_probability`, so that both give the same odds. */
const NO_JUMP = 0.5;

/**
 * Returns the probability that the price touches a strike at any time between the quotes and `endsAt`, ms since the epoch: the default
 * `touch_probability` of `calculate_merton_probability` for the spot of the quotes. `hasLaws` of the surface must be true. The result is
 * cached by the surface.
 */
export function* touchOdds(surface: FittedSurface, strike: number, endsAt: number): Steps<number> {
  const { law, jumpDiffusion, horizon } = yield* jumpLawOf(surface, endsAt, NO_JUMP);
  const barrier = { spot: surface.spot, strike, forward: horizon.forward };
  return yield* odds.of(surface, `${endsAt} ${strike}`, {
    message: 'Computing the odds of a touch',
    tokens: touchCost(touchProducts(jumpDiffusion, barrier)),
    *steps() {
      return (yield* touchProbabilities(law, jumpDiffusion, barrier)).probability;
    },
  });
}

/** The odds of three horizons take up to twelve entries. */
const ODDS_CACHED = 16;
const odds = new StepCache<FittedSurface, number>(() => ODDS_CACHED);
