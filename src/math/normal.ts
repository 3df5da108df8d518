import { kernels } from './kernels.ts';

/** N(x), the probability of a standard normal number at or below x; relative accuracy 1e-15 * (1 + x^2) in both tails. */
export function normalCdf(x: number): number {
  return kernels.cumulative(x);
}

/**
 * The x with N(x) = p, to 1e-15 relative (Wichura's AS 241, 1988). 0 and 1 give -Infinity and Infinity, numbers outside [0, 1]
 * give NaN.
 */
export function inverseNormalCdf(p: number): number {
  return kernels.inverseCumulative(p);
}
