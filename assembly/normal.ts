/**
 * Worst error found: N 2.04, at x=0.038088627228552996.
 * The unit is the change that one rounding of the input and of the result can cause (`scaledError` of the tests).
 */
import { Exponential } from './exp';
import { Mills } from './mills';

export const INV_SQRT_2_PI: f64 = 0.3989422804014327;
/**
 * If s = v sqrt(T), the standard deviation of the log-return, is at most this bound, an option has no time value. The logarithms of two
 * different doubles differ by more than this bound.
 */
export const DEVIATION_MIN: f64 = 1e-100;
/**
 * Upper bound of |d1| and |d2|. At this bound, N and phi are equal to their limits. The bound prevents 0 * Infinity in products with phi.
 */
export const D_MAX: f64 = 1e9;
/** If |x| is above this bound, the normal density phi(x) is 0 in doubles. */
const X_MAX: f64 = 40.0;

/**
 * Returns N(x), the probability that a standard normal number is not above x. A small probability is computed from Mills' ratio, and never
 * as 1 minus a large probability.
 */
export function cumulative(x: f64): f64 {
  if (x === 0.0) return 0.5;
  const a = Math.min(Math.abs(x), X_MAX);
  const density = INV_SQRT_2_PI * f64x2.extract_lane(Exponential.of(f64x2.splat(-0.5 * a * a)), 0);
  const tail = density * f64x2.extract_lane(Mills.ratio(f64x2.splat(a)), 0);
  return x < 0.0 ? tail : 1.0 - tail;
}
