/** Worst error found: N 2.04, at x=0.038088627228552996. */
import { Exponential } from './exp';
import { Mills } from './mills';

const INV_SQRT_2_PI: f64 = 0.3989422804014327;
/** Beyond this, phi(x) is 0 in doubles. */
const FARTHEST: f64 = 40.0;

/**
 * N(x), the probability that a standard normal number is at or below x. Uses Mills' ratio: a small number is never computed as 1 - N(x).
 */
export function cumulative(x: f64): f64 {
  if (x === 0.0) return 0.5;
  const a = Math.min(Math.abs(x), FARTHEST);
  const density = INV_SQRT_2_PI * f64x2.extract_lane(Exponential.of(f64x2.splat(-0.5 * a * a)), 0);
  const tail = density * f64x2.extract_lane(Mills.ratio(f64x2.splat(a)), 0);
  return x < 0.0 ? tail : 1.0 - tail;
}
