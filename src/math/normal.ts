import { kernels } from './kernels.ts';

/** N(x), the probability that a standard normal number is at or below x. Relative accuracy 1e-15 * (1 + x^2) in both tails. */
export function normalCdf(x: number): number {
  return kernels.cumulative(x);
}

/**
 * The x with N(x) = p, to 1e-15 relative (Wichura's AS 241, 1988). 0 and 1 give -Infinity and Infinity. Numbers outside [0, 1] give NaN.
 */
export function inverseNormalCdf(p: number): number {
  return kernels.inverseCumulative(p);
}
