import { kernels } from './kernels.ts';

/** Returns N(x), the probability that a standard normal number is not above x. The relative error is at most 1e-15 * (1 + x^2). */
export function normalCdf(x: number): number {
  return kernels.cumulative(x);
}

/**
 * Returns the number x with N(x) = p, with a relative error of about 1e-15 (Wichura's AS 241, 1988). Returns -Infinity for p = 0, Infinity
 * for p = 1, and NaN if p is outside [0, 1].
 */
export function inverseNormalCdf(p: number): number {
  return kernels.inverseCumulative(p);
}
