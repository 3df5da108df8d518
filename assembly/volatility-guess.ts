import { COLUMN, PAIR } from './block';
import { add, atLeast, atMost, choose, div, half, mul, one, step, sub, times } from './lanes';
import { Logarithm } from './log';
import { ANSWER, DEVIATION, FIRST, GOING, HIGH, LN_PART, LN_REST, LOW, MONEYNESS, PART } from './volatility-columns';

const LN_2: f64 = 0.6931471805599453;
const LN_SQRT_2_PI: f64 = 0.9189385332046728;
const SQRT_2_PI: f64 = 2.5066282746310007;
const HALF_SQRT_2_PI: f64 = 1.2533141373155003;
/** A little more than the largest error of `inverseTail`. */
const GUESS_ERROR: f64 = 0.0006;

// From scripts/coefficients.ts.
const U0: f64 = -0.13331;
const U1: f64 = 0.72193;
const U2: f64 = -0.78354;
const U3: f64 = 0.3668;
const V1: f64 = -0.4853;
const V2: f64 = 0.25878;

const TARGET: usize = 23 * COLUMN;
const Z: usize = 24 * COLUMN;

/**
 * Guesses s to a few percent. If part < 1/2, then with z = x / s, part = x e^(x / 2 - s^2 / 8) phi(z) (1 - z M(z)) / z as long as s is
 * small (Bachelier's formula). 1 - z M(z) is approximated by 1 / (1 + sqrt(pi / 2) z + z^2), which is right at both ends.
 * Taking logarithms gives
 *
 *     z^2 / 2 + s^2 / 8 + ln(z (1 + sqrt(pi / 2) z + z^2)) = t,    t = ln(x / part) + x / 2 - ln(sqrt(2 pi)).
 *
 * A rational function gives z without the second term. A step of Newton's method then adds that term. If part >= 1/2, the guess is the
 * largest possible s.
 */
export function guess(row: usize, end: usize): void {
  smallTarget(row, end);
  smallStart(row, end);
  smallLogarithm(row, end);
  smallStep(row, end);
  if (smallDeviations(row, end)) largeDeviations(row, end);
}

function smallTarget(row: usize, end: usize): void {
  for (; row < end; row += PAIR) Logarithm.reduce(v128.load(row, MONEYNESS), one(), row, FIRST);
}

function smallStart(row: usize, end: usize): void {
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

function smallLogarithm(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const z = v128.load(row, Z);
    const l = add(add(mul(z, f64x2.splat(HALF_SQRT_2_PI)), one()), mul(z, z));
    Logarithm.reduce(mul(z, l), one(), row, FIRST);
  }
}

function smallStep(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const z = v128.load(row, Z);
    const zz = mul(z, z);
    const l = add(add(mul(z, f64x2.splat(HALF_SQRT_2_PI)), one()), zz);
    const perZ = div(one(), z);
    const xPerZ = mul(x, perZ);
    const bend = times(0.125, mul(xPerZ, xPerZ));
    const excess = sub(add(add(half(zz), bend), Logarithm.reduced(row, FIRST)), v128.load(row, TARGET));
    const slope = add(add(sub(z, mul(add(bend, bend), perZ)), perZ), div(step(add(z, z), one(), HALF_SQRT_2_PI), l));
    v128.store(row, f64x2.pmax(times(0.3, z), sub(z, div(excess, slope))), Z);
  }
}

/** The guess if part < 1/2. Returns whether there are rows with a larger part. */
function smallDeviations(row: usize, end: usize): bool {
  let large = f64x2.splat(0.0);
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const part = v128.load(row, PART);
    const going = f64x2.eq(v128.load(row, ANSWER), one());
    const atTheMoney = times(SQRT_2_PI, add(part, half(x)));
    v128.store(row, choose(f64x2.gt(part, add(x, x)), atTheMoney, div(x, v128.load(row, Z))), DEVIATION);
    v128.store(row, going, GOING);
    large = v128.or(large, v128.and(going, Guess.isLarge(part)));
  }
  return v128.any_true(large);
}

function largeDeviations(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const high = Guess.most(v128.load(row, LN_REST), v128.load(row, MONEYNESS));
    v128.store(row, choose(Guess.isLarge(v128.load(row, PART)), high, v128.load(row, DEVIATION)), DEVIATION);
  }
}

/** Finds two deviations between which the right one lies, and moves the present one between them. */
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
  @inline
  static isLarge(part: v128): v128 {
    return f64x2.ge(part, f64x2.splat(0.5));
  }

  /** A lower bound of s: part <= N(d1). */
  @inline
  static least(large: v128, lnPart: v128, lnRest: v128, x: v128): v128 {
    const tail = Guess.inverseTail(choose(large, lnRest, lnPart));
    const d1 = choose(large, tail, f64x2.neg(tail));
    return Guess.deviationAt(sub(d1, f64x2.splat(GUESS_ERROR)), x);
  }

  /** An upper bound of s: rest <= 2 N(-d1), as M falls and b >= |a|. */
  @inline
  static most(lnRest: v128, x: v128): v128 {
    const d1 = Guess.inverseTail(sub(lnRest, f64x2.splat(LN_2)));
    return Guess.deviationAt(add(d1, f64x2.splat(GUESS_ERROR)), x);
  }

  /** The d >= 0 with N(-d) = p <= 1/2, from ln p: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.2.23. */
  @inline
  static inverseTail(lnP: v128): v128 {
    const t = f64x2.sqrt(times(-2.0, atMost(lnP, -LN_2)));
    const p = step(step(f64x2.splat(0.010328), t, 0.802853), t, 2.515517);
    const q = step(step(step(f64x2.splat(0.001308), t, 0.189269), t, 1.432788), t, 1.0);
    return sub(t, div(p, q));
  }

  /** The s >= 0 with -x / s + s / 2 = d1. */
  @inline
  static deviationAt(d1: v128, x: v128): v128 {
    const root = f64x2.sqrt(add(mul(d1, d1), add(x, x)));
    const nonNegative = f64x2.ge(d1, f64x2.splat(0.0));
    return choose(nonNegative, add(d1, root), div(add(x, x), sub(root, d1)));
  }
}
