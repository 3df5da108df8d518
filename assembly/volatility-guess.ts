import { COLUMN, PAIR } from './block';
import { add, atLeast, atMost, choose, div, half, mul, one, step, sub, times } from './lanes';
import { Logarithm } from './log';
import {
  DEVIATION,
  FIRST,
  HIGH,
  LN_PART,
  LN_REST,
  LOW,
  MONEYNESS,
  PART,
  SCRATCH,
  STATUS,
  UNSOLVED,
} from './volatility-columns';

const LN_2: f64 = 0.6931471805599453;
const LN_SQRT_2_PI: f64 = 0.9189385332046728;
const SQRT_2_PI: f64 = 2.5066282746310007;
const HALF_SQRT_2_PI: f64 = 1.2533141373155003;
/** A bound slightly above 0.00045, the largest absolute error of `inverseTail`. */
const INVERSE_TAIL_ERROR: f64 = 0.0006;

// The coefficients of `startZ` come from scripts/coefficients.ts.
const U0: f64 = -0.13331;
const U1: f64 = 0.72193;
const U2: f64 = -0.78354;
const U3: f64 = 0.3668;
const V1: f64 = -0.4853;
const V2: f64 = 0.25878;

/** t. */
const TARGET: usize = SCRATCH + 15 * COLUMN;
const Z: usize = SCRATCH + 16 * COLUMN;

/**
 * Guesses s = v sqrt(T) with an error of a few percent, and stores the guess in DEVIATION. The notation is the notation of
 * implied-volatility.ts: x = |ln(F / K)|, z = x / s, M is Mills' ratio, N and phi are the distribution function and the density of the
 * standard normal distribution, and part is the time value as a share of the smaller leg. There are three cases:
 *
 * - If part >= 1/2, the guess is the upper bound of s that `Guess.most` gives.
 * - If part < 1/2 and part > 2 x, the strike is close to the forward. The guess is s = sqrt(2 pi) (part + x / 2).
 * - In all other rows, the guess is s = x / z. If s is small, then part is approximately x e^(x / 2 - s^2 / 8) phi(z) (1 - z M(z)) / z
 *   (Bachelier's formula). In this formula, 1 - z M(z) is replaced by 1 / (1 + sqrt(pi / 2) z + z^2), which is exact for z = 0 and in the
 *   limit of large z. Taking logarithms gives
 *
 *       z^2 / 2 + s^2 / 8 + ln(z (1 + sqrt(pi / 2) z + z^2)) = t,    t = ln(x / part) + x / 2 - ln(sqrt(2 pi)).
 *
 *   A rational function gives the number z that solves the equation without the term s^2 / 8. Then one step of Newton's method includes the
 *   term s^2 / 8.
 */
export function guess(row: usize, end: usize): void {
  storeLnX(row, end);
  startZ(row, end);
  smallLnOfZ(row, end);
  stepZ(row, end);
  if (smallDeviations(row, end)) largeDeviations(row, end);
}

/** Computes the first half of ln x. */
function storeLnX(row: usize, end: usize): void {
  for (; row < end; row += PAIR) Logarithm.reduce(v128.load(row, MONEYNESS), one(), row, FIRST);
}

/** Computes t, and the number z that solves the equation without the term s^2 / 8. */
function startZ(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const t = add(
      sub(Logarithm.reduced(row, FIRST), v128.load(row, LN_PART)),
      add(half(x), f64x2.splat(-LN_SQRT_2_PI)),
    );
    v128.store(row, t, TARGET);
    const w = f64x2.sqrt(atLeast(add(t, f64x2.splat(2.2)), 0.0));
    const p = step(step(step(f64x2.splat(U3), w, U2), w, U1), w, U0);
    v128.store(row, div(p, add(mul(step(f64x2.splat(V2), w, V1), w), one())), Z);
  }
}

/** Computes the first half of ln(z (1 + sqrt(pi / 2) z + z^2)). */
function smallLnOfZ(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const z = v128.load(row, Z);
    const l = add(add(mul(z, f64x2.splat(HALF_SQRT_2_PI)), one()), mul(z, z));
    Logarithm.reduce(mul(z, l), one(), row, FIRST);
  }
}

/** Takes one step of Newton's method from z, with the term s^2 / 8. The new z is at least 0.3 times the old z. */
function stepZ(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const z = v128.load(row, Z);
    const zz = mul(z, z);
    const l = add(add(mul(z, f64x2.splat(HALF_SQRT_2_PI)), one()), zz);
    const perZ = div(one(), z);
    const xPerZ = mul(x, perZ);
    const s2Over8 = times(0.125, mul(xPerZ, xPerZ));
    const excess = sub(add(add(half(zz), s2Over8), Logarithm.reduced(row, FIRST)), v128.load(row, TARGET));
    const slope = add(
      add(sub(z, mul(add(s2Over8, s2Over8), perZ)), perZ),
      div(step(add(z, z), one(), HALF_SQRT_2_PI), l),
    );
    v128.store(row, f64x2.pmax(times(0.3, z), sub(z, div(excess, slope))), Z);
  }
}

/**
 * Stores the guess for part < 1/2 in every row, and marks the rows that have an s to solve for as unsolved. Returns whether such a row has
 * a part of 1/2 or more.
 */
function smallDeviations(row: usize, end: usize): bool {
  let large = f64x2.splat(0.0);
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const part = v128.load(row, PART);
    const unsolved = f64x2.eq(v128.load(row, STATUS), one());
    const atTheMoney = times(SQRT_2_PI, add(part, half(x)));
    v128.store(row, choose(f64x2.gt(part, add(x, x)), atTheMoney, div(x, v128.load(row, Z))), DEVIATION);
    v128.store(row, unsolved, UNSOLVED);
    large = v128.or(large, v128.and(unsolved, Guess.isLarge(part)));
  }
  return v128.any_true(large);
}

/** Stores the guess in the rows with part >= 1/2. */
function largeDeviations(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const high = Guess.most(v128.load(row, LN_REST), v128.load(row, MONEYNESS));
    v128.store(row, choose(Guess.isLarge(v128.load(row, PART)), high, v128.load(row, DEVIATION)), DEVIATION);
  }
}

/** Stores a lower and an upper bound of s in LOW and HIGH. Moves the present approximation of s into the interval between them. */
export function bracket(row: usize): void {
  const x = v128.load(row, MONEYNESS);
  const lnPart = v128.load(row, LN_PART);
  const lnRest = v128.load(row, LN_REST);
  const low = Guess.least(Guess.isLarge(v128.load(row, PART)), lnPart, lnRest, x);
  const high = Guess.most(lnRest, x);
  v128.store(row, low, LOW);
  v128.store(row, high, HIGH);
  v128.store(row, f64x2.pmax(low, f64x2.pmin(high, v128.load(row, DEVIATION))), DEVIATION);
}

class Guess {
  /** Returns the mask of the rows with part >= 1/2. */
  @inline
  static isLarge(part: v128): v128 {
    return f64x2.ge(part, f64x2.splat(0.5));
  }

  /** Returns a lower bound of s. Because part <= N(d1), d1 is at least the number d with N(d) = part. */
  @inline
  static least(large: v128, lnPart: v128, lnRest: v128, x: v128): v128 {
    const tail = Guess.inverseTail(choose(large, lnRest, lnPart));
    const d1 = choose(large, tail, f64x2.neg(tail));
    return Guess.deviationAt(sub(d1, f64x2.splat(INVERSE_TAIL_ERROR)), x);
  }

  /**
   * Returns an upper bound of s. Because M is a decreasing function and b >= -a, M(b) is at most M(-a). So rest <= 2 N(-d1), and -d1 is at
   * least the number d with N(d) = rest / 2.
   */
  @inline
  static most(lnRest: v128, x: v128): v128 {
    const d1 = Guess.inverseTail(sub(lnRest, f64x2.splat(LN_2)));
    return Guess.deviationAt(add(d1, f64x2.splat(INVERSE_TAIL_ERROR)), x);
  }

  /**
   * Returns the number d >= 0 with N(-d) = p, computed from ln p, for p <= 1/2. The formula is 26.2.23 of Abramowitz and Stegun, Handbook
   * of Mathematical Functions (1964).
   */
  @inline
  static inverseTail(lnP: v128): v128 {
    const t = f64x2.sqrt(times(-2.0, atMost(lnP, -LN_2)));
    const p = step(step(f64x2.splat(0.010328), t, 0.802853), t, 2.515517);
    const q = step(step(step(f64x2.splat(0.001308), t, 0.189269), t, 1.432788), t, 1.0);
    return sub(t, div(p, q));
  }

  /** Returns the number s >= 0 with -x / s + s / 2 = d1. */
  @inline
  static deviationAt(d1: v128, x: v128): v128 {
    const root = f64x2.sqrt(add(mul(d1, d1), add(x, x)));
    const nonNegative = f64x2.ge(d1, f64x2.splat(0.0));
    return choose(nonNegative, add(d1, root), div(add(x, x), sub(root, d1)));
  }
}
