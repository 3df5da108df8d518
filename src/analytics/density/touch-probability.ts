import { passageInSteps } from '../../math/first-passage.ts';
import { runToCompletion, type Steps } from '../../steps.ts';
import type { JumpProbability } from './jump-probability.ts';

/**
 * Probability that the price is at the strike, or jumps beyond it, at some time before expiry, 0 to 1. Diffusion and jumps are those that
 * give the probability of ending there. The result is never less than that probability, and is 1 for a strike at spot.
 */
export function touchProbability(...of: Parameters<typeof touchInSteps>): number {
  return runToCompletion(touchInSteps(...of));
}

export function* touchInSteps(
  { probability, tte, diffusionVolatility, intensity, sizes, rate, dividend }: JumpProbability,
  spot: number,
  strike: number,
): Steps<number> {
  const side = strike >= spot ? 1 : -1;
  const compensator = Math.expm1(sizes.mean + sizes.width ** 2 / 2);
  const drift = (rate - dividend - intensity * compensator - diffusionVolatility ** 2 / 2) * tte;
  const touch = yield* passageInSteps({
    start: side * Math.log(strike / spot),
    drift: -side * drift,
    variance: diffusionVolatility ** 2 * tte,
    jumps: intensity * tte,
    jumpMean: -side * sizes.mean,
    jumpWidth: sizes.width,
  });
  return Math.max(touch, probability);
}
