import { passageInSteps } from '../../math/first-passage.ts';
import { runToCompletion, type Steps } from '../../steps.ts';
import type { JumpProbability } from './jump-probability.ts';

/**
 * Returns the probability that the price reaches the strike, or jumps beyond it, at some time before expiry, 0 to 1. Diffusion and jumps
 * are the same as for `probability`, the probability of ending at or beyond the strike. The result is never less than `probability`. For a
 * strike at spot it is 1.
 */
export function touchProbability(...of: Parameters<typeof touchInSteps>): number {
  return runToCompletion(touchInSteps(...of));
}

/** Returns the same probability as `touchProbability`, computed in steps. */
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
