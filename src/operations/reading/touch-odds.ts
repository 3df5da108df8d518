import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { pathTouches, touchRange } from '../../analytics/surface/touch-probability.ts';
import type { Steps } from '../../core/steps.ts';
import { TOUCH_GRID_TOKENS } from '../engine/request-cost.ts';

/**
 * Returns the probability that the price touches a strike at any time between the quotes and `endsAt`, ms since the epoch: by a continuous
 * path, as `touch_probability` of `calculate_merton_probability` for the spot of the quotes. `hasLaws` of the surface must be true.
 */
export function* touchOdds(surface: FittedSurface, strike: number, endsAt: number): Steps<number> {
  const horizon = surface.lawAt(endsAt);
  const barrier = { spot: surface.spot, strike, forward: horizon.forward };
  const { blend } = yield* pathTouches(surface, horizon, barrier, TOUCH_GRID_TOKENS);
  return touchRange([blend], horizon.law, barrier).probabilities[0]!;
}
