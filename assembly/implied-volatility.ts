import { COLUMN } from './block';
import { inverseCumulative } from './inverse-normal';
import { mills, millsAnywhere } from './normal';
import { logRatio } from './scalar-log';

const LN_SQRT_2_PI: f64 = 0.9189385332046728;
const SQRT_2_PI: f64 = 2.5066282746310007;
/** Fourth-order steps from a bracketed guess: four are usual; the rest is for bisection, should a step leave the bracket. */
const STEPS_MAX: i32 = 32;
/** A step this small, relative, leaves an error of its fourth power. */
const STEP_SMALL: f64 = 1e-5;

/**
 * The volatility at which Black-Scholes-Merton gives the price. 0 where the price is at or below the discounted intrinsic value;
 * NaN where no volatility gives it: at or above what the option can be worth at most (S e^(-qT) for a call, K e^(-rT) for a
 * put), or where an input is not finite, or S, K or T not positive.
 */
export function impliedVolatility(count: i32, block: usize): void {
  const callPut = block + 0 * COLUMN;
  const price = block + 1 * COLUMN;
  const spot = block + 2 * COLUMN;
  const strike = block + 3 * COLUMN;
  const tte = block + 4 * COLUMN;
  const rate = block + 5 * COLUMN;
  const dividend = block + 6 * COLUMN;
  const iv = block + 7 * COLUMN;
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    const quoted = load<f64>(price + at);
    const S = load<f64>(spot + at);
    const K = load<f64>(strike + at);
    const T = load<f64>(tte + at);
    const r = load<f64>(rate + at);
    const q = load<f64>(dividend + at);
    const isCall = load<f64>(callPut + at) > 0.0;

    const spotNow = S * Math.exp(-q * T);
    const strikeNow = K * Math.exp(-r * T);
    const x = logRatio(S, K) + (r - q) * T;
    // By parity, the time value is the price of the out-of-the-money option, which is worth at most the lesser leg.
    const intrinsic = Math.max(0.0, isCall ? spotNow - strikeNow : strikeNow - spotNow);
    const most = isCall ? spotNow : strikeNow;
    const least = Math.min(spotNow, strikeNow);
    const part = (quoted - intrinsic) / least;
    const rest = (most - quoted) / least;

    const known = Math.abs(quoted) < Infinity && Math.abs(x) < Infinity && least > 0.0 && most < Infinity;
    if (!known || !(S > 0.0 && K > 0.0 && T > 0.0)) store<f64>(iv + at, NaN);
    else if (part <= 0.0) store<f64>(iv + at, 0.0);
    else if (rest <= 0.0) store<f64>(iv + at, NaN);
    else store<f64>(iv + at, deviationFor(part, rest, Math.abs(x)) / Math.sqrt(T));
  }
}

/**
 * The s = v sqrt(T) at which an option out of the money by x = |ln(F / K)| is worth `part` of the most it can be worth; `rest` is
 * 1 - part, known on its own. With d1 = -x / s + s / 2 and d2 = d1 - s,
 *
 *     part = N(d1) - e^x N(d2) = phi(d1) (M(-d1) - M(-d2)),    rest = phi(d1) (M(d1) + M(-d2)),    d part / d s = phi(d1).
 *
 * The smaller of both is solved for in its logarithm, in which neither tail underflows or loses digits.
 */
function deviationFor(part: f64, rest: f64, x: f64): f64 {
  const lower = part < 0.5;
  const target = Math.log(lower ? part : rest);
  // N(-d1) <= rest <= 2 N(-d1), as M falls and -d2 >= d1; below a half the second bound is a chord of the convex inverse.
  let low = deviationAt(lower ? inverseCumulative(part) : -inverseCumulative(rest), x);
  let high = deviationAt(lower ? CHORD * part : -inverseCumulative(0.5 * rest), x);
  let s = lower ? Math.max(low, Math.min(high, guess(part, x))) : high;

  for (let step = 0; step < STEPS_MAX; step++) {
    const d1 = -x / s + 0.5 * s;
    const d2 = d1 - s;
    const value = lower ? millsDifference(x / s, s) : millsAnywhere(d1) + mills(-d2);
    const error = Math.log(value) - 0.5 * d1 * d1 - LN_SQRT_2_PI - target;
    const slope = (lower ? 1.0 : -1.0) / value;
    if (slope * error > 0.0) high = Math.min(high, s);
    else low = Math.max(low, s);

    // Householder's third order, from the ratios of the higher derivatives to the first.
    const curvature = (d1 * d2) / s - slope;
    const third = curvature * (curvature - slope) - (d1 * d1 + d1 * d2 + d2 * d2) / (s * s);
    const newton = -error / slope;
    const change =
      (newton * (1.0 + 0.5 * newton * curvature)) / (1.0 + newton * (curvature + newton * third * (1.0 / 6.0)));
    const next = s + change;
    if (!(next >= low && next <= high)) {
      s = 0.5 * (low + high);
      continue;
    }
    s = next;
    if (Math.abs(change) <= STEP_SMALL * s) break;
  }
  return s;
}

/**
 * M(z - s / 2) - M(z + s / 2) for z >= 0, s > 0. Where both are close and the plain difference would lose digits, by Taylor's
 * series at z, whose derivatives follow from M' = z M - 1: six terms leave out less than 1e-16 of the sum. What it loses itself,
 * z^2 ulp, the volatility gains back, as it moves the price by that much more.
 */
function millsDifference(z: f64, s: f64): f64 {
  if (s > TAYLOR_MAX || z * s > 1.0) return millsAnywhere(z - 0.5 * s) - mills(z + 0.5 * s);
  let even = mills(z);
  let odd = z * even - 1.0;
  let sum = odd;
  let scale: f64 = 1.0;
  for (let k: f64 = 1.0; k < TAYLOR_DEGREE; k += 2.0) {
    even = k * even + z * odd;
    odd = (k + 1.0) * odd + z * even;
    scale *= (0.25 * s * s) / ((k + 1.0) * (k + 2.0));
    sum += scale * odd;
  }
  return -s * sum;
}

const TAYLOR_MAX: f64 = 0.2;
const TAYLOR_DEGREE: f64 = 11.0;

/** 2 N^-1(3/4): N^-1((1 + u) / 2) <= this * u for u in [0, 1/2]. */
const CHORD: f64 = 1.3489795003921634;

/** The s > 0 with -x / s + s / 2 = d1. */
function deviationAt(d1: f64, x: f64): f64 {
  const root = Math.sqrt(d1 * d1 + 2.0 * x);
  return d1 > 0.0 ? d1 + root : x > 0.0 ? (2.0 * x) / (root - d1) : 0.0;
}

/**
 * A first s to a few percent, for part < 1/2. Written in z = x / s, part = x e^(x / 2 - s^2 / 8) phi(z) (1 - z M(z)) / z as long
 * as s is small (Bachelier's formula); with 1 - z M(z) put as 1 / (1 + sqrt(pi / 2) z + z^2), right at both ends, its logarithm
 * takes Newton's method to z.
 */
function guess(part: f64, x: f64): f64 {
  if (part > 2.0 * x) return SQRT_2_PI * (part + 0.5 * x);
  const t = Math.log(x / part) + 0.5 * x - LN_SQRT_2_PI;
  let z = t > 1.0 ? Math.sqrt(2.0 * t) : 0.7;
  for (let step = 0; step < 2; step++) {
    const l = 1.0 + z * (HALF_SQRT_2_PI + z);
    const zz = z * z;
    const excess = 0.5 * zz + (x * x) / (8.0 * zz) + Math.log(z * l) - t;
    const slope = z - (x * x) / (4.0 * zz * z) + 1.0 / z + (HALF_SQRT_2_PI + 2.0 * z) / l;
    z = Math.max(0.3 * z, z - excess / slope);
  }
  return x / z;
}

const HALF_SQRT_2_PI: f64 = 1.2533141373155003;
