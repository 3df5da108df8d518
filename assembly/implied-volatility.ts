/** Worst error found: volatility 0.867, at put, price=0.20902683407100056, S=100, K=3.83343862693, T=10, r=0, q=0. */
import { COLUMN, PAIR, rowAt } from './block';
import { add, atMost, choose, div, half, magnitude, mul, one, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { Rounding } from './rounding';
import { timeValues } from './time-value';
import {
  ANSWER,
  DEVIATION,
  FIRST,
  GOING,
  HIGH,
  IV,
  LN_PART,
  LN_REST,
  LOW,
  MONEYNESS,
  MONEYNESS_LOW,
  SECOND,
  TTE,
} from './volatility-columns';
import { bracket, guess } from './volatility-guess';

const LN_SQRT_2_PI: f64 = 0.9189385332046728;
/** Limit on further steps if two steps from the guess are not enough. These steps are bracketed, and bisect if they leave the bracket. */
const STEPS_MAX: i32 = 30;
/** Up to these, Mills' ratios at a and b are so close that their difference would lose digits. */
const NEAR_DEVIATION: f64 = 0.55;
const NEAR_MONEYNESS: f64 = 2.0;
const TAYLOR_DEGREE: f64 = 17.0;
/** Rows that go through all passes together, so that they stay in the first-level cache. */
const STRIP: i32 = 128;
/** A step this small, relative to s (or to 1 if s is larger), leaves an error of its fourth power. */
const STEP_SMALL: f64 = 1e-4;

const A: usize = 23 * COLUMN;
const B: usize = 24 * COLUMN;
const MILLS_A: usize = 25 * COLUMN;
const MILLS_B: usize = 26 * COLUMN;
const MILLS_Z: usize = 27 * COLUMN;
const DIFFERENCE: usize = 28 * COLUMN;
const SIGNED: usize = 29 * COLUMN;
const ERROR: usize = MILLS_A;
const SLOPE_Z: usize = 30 * COLUMN;
/**
 * Two lists of addresses, in this many bytes: one grows upward from the start, one downward from the end. For the last rows, the lists
 * reach into the next column.
 */
const FAR: usize = SECOND;
const LISTS: usize = 512;

/**
 * The volatility at which Black-Scholes-Merton gives the price. 0 if the price is at or below the discounted intrinsic value. NaN if no
 * volatility gives the price: the price is at or above the largest possible value of the option (S e^(-qT) for a call, K e^(-rT) for a
 * put), an input is not finite, or S, K or T is not positive.
 *
 * The unknown is s = v sqrt(T). The option is out of the money by x = |ln(F / K)|. By parity, its value is the time value of either side,
 * and it is at most the lesser leg. `part` is this value as a share of the lesser leg, rest = 1 - part, z = x / s,
 * a = -d1 = z - s / 2, b = -d2 = z + s / 2:
 *
 *     part = phi(a) (M(a) - M(b)),    rest = phi(a) (M(-a) + M(b)),    d part / d s = phi(a).
 *
 * One of the two equations is solved in its logarithm, in which no tail underflows or loses digits: rest where a < 0 (unless s is small),
 * else part. Two steps of Householder's third order, from a guess good to a few percent, are usually enough. All rows take them in short
 * passes, as in black-scholes.ts. Rows that need more steps then go on by themselves.
 */
export function impliedVolatility(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    const start = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    timeValues(start, end);
    guess(start, end);
    evaluate(start, end, true);
    steps(start, end);
    evaluate(start, end, false);
    steps(start, end);
    for (let row = start; row < end; row += PAIR) {
      if (v128.any_true(v128.load(row, GOING))) goOn(row);
    }
    answers(start, end);
  }
}

/** Goes on with one pair of rows, whose steps diverged or were slow. */
function goOn(row: usize): void {
  bracket(row);
  for (let taken = 0; taken < STEPS_MAX && v128.any_true(v128.load(row, GOING)); taken++) {
    evaluate(row, row + PAIR, false);
    bracketedStep(row);
  }
}

function answers(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const answer = v128.load(row, ANSWER);
    const volatility = div(v128.load(row, DEVIATION), f64x2.sqrt(v128.load(row, TTE)));
    v128.store(row, choose(f64x2.eq(answer, one()), volatility, answer), IV);
  }
}

/** Computes what a step needs at the present deviation. `roughly`: as accurate as the step from a guess needs. */
function evaluate(row: usize, end: usize, roughly: bool): void {
  const far = row + FAR;
  const farEnd = deviations(row, end, far, far + LISTS);
  mills(far, farEnd, A, MILLS_A);
  mills(far, farEnd, B, MILLS_B);
  const near = <usize>load<u32>(far, LISTS);
  const nearEnd = far + LISTS;
  nearRatios(near, nearEnd);
  if (roughly) roughDifferences(near, nearEnd);
  else differences(near, nearEnd);
  values(row, end);
  errors(row, end);
  if (!roughly) correctErrors(row, end);
}

/**
 * Computes a and b, and two lists of pairs of rows, as addresses of four bytes. The list of pairs that are not both near grows up from
 * `far`. Its end is returned. The list of pairs that are not both far grows down from `near`. Its start is stored at `near`.
 */
function deviations(row: usize, end: usize, far: usize, near: usize): usize {
  const nearEnd = near;
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const s = v128.load(row, DEVIATION);
    const z = div(x, s);
    const halfS = half(s);
    v128.store(row, sub(z, halfS), A);
    v128.store(row, add(z, halfS), B);
    const isNear = Step.isNear(x, s);
    if (!i64x2.all_true(isNear)) {
      store<u32>(far, <u32>row);
      far += 4;
    }
    if (v128.any_true(isNear)) {
      near -= 4;
      store<u32>(near, <u32>row);
    }
  }
  store<u32>(nearEnd, <u32>near);
  return far;
}

function mills(listed: usize, end: usize, x: usize, ratio: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    v128.store(row + ratio, Mills.ratio(magnitude(v128.load(row + x))));
  }
}

function nearRatios(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const z = Step.middle(row);
    const q = Mills.q(z);
    v128.store(row, div(Mills.p(z), q), MILLS_Z);
    v128.store(row, div(Mills.r(z), q), SLOPE_Z);
  }
}

function roughDifferences(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const difference = Step.roughDifference(Step.middle(row), v128.load(row, DEVIATION), row);
    v128.store(row, difference, DIFFERENCE);
  }
}

function differences(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const difference = Step.difference(Step.middle(row), v128.load(row, DEVIATION), row);
    v128.store(row, difference, DIFFERENCE);
  }
}

/** part / phi(a), or -rest / phi(a), and the first half of its logarithm. */
function values(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const near = Step.isNear(v128.load(row, MONEYNESS), v128.load(row, DEVIATION));
    const upper = v128.andnot(f64x2.lt(v128.load(row, A), f64x2.splat(0.0)), near);
    const millsA = v128.load(row, MILLS_A);
    const millsB = v128.load(row, MILLS_B);
    const apart = choose(upper, add(millsA, millsB), sub(millsA, millsB));
    const value = choose(near, v128.load(row, DIFFERENCE), apart);
    v128.store(row, choose(upper, f64x2.neg(value), value), SIGNED);
    Logarithm.reduce(value, one(), row, FIRST);
  }
}

/** The target minus the present value, both as logarithms. */
function errors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const a = v128.load(row, A);
    const upper = f64x2.lt(v128.load(row, SIGNED), f64x2.splat(0.0));
    const target = choose(upper, v128.load(row, LN_REST), v128.load(row, LN_PART));
    const rest = sub(f64x2.splat(LN_SQRT_2_PI), Logarithm.reduced(row, FIRST));
    v128.store(row, add(add(target, mul(half(a), a)), rest), ERROR);
  }
}

/** In the tail a^2 / 2 is large, and so is the effect of the rounding of z and a on it. This corrects the error for that effect. */
function correctErrors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const s = v128.load(row, DEVIATION);
    const x = v128.load(row, MONEYNESS);
    const a = v128.load(row, A);
    const z = div(x, s);
    const product = mul(z, s);
    const missing = sub(v128.load(row, MONEYNESS_LOW), Rounding.ofProduct(z, s, product));
    const ofZ = div(add(sub(x, product), missing), s);
    const ofA = sub(sub(z, a), half(s));
    const ofSquare = half(Rounding.ofProduct(a, a, mul(a, a)));
    const inTail = f64x2.ge(a, one());
    const correction = v128.and(inTail, add(mul(a, add(ofZ, ofA)), ofSquare));
    v128.store(row, add(v128.load(row, ERROR), correction), ERROR);
  }
}

/** One step of all rows. A step to a number that is not positive and finite is not taken, and the row is not done. */
function steps(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const s = v128.load(row, DEVIATION);
    const change = Step.change(row, s, v128.load(row, ERROR));
    const next = add(s, change);
    const sensible = v128.and(f64x2.gt(next, f64x2.splat(0.0)), f64x2.lt(next, f64x2.splat(Infinity)));
    const done = v128.and(sensible, Step.isSmall(change, s));
    v128.store(row, choose(sensible, next, s), DEVIATION);
    v128.store(row, v128.andnot(f64x2.eq(v128.load(row, ANSWER), one()), done), GOING);
  }
}

/** One step of a pair of rows, or a bisection if the step would leave the bracket. */
function bracketedStep(row: usize): void {
  const s = v128.load(row, DEVIATION);
  const going = v128.load(row, GOING);
  const error = v128.load(row, ERROR);
  const above = f64x2.lt(mul(error, v128.load(row, SIGNED)), f64x2.splat(0.0));
  const high = choose(above, f64x2.pmin(v128.load(row, HIGH), s), v128.load(row, HIGH));
  const low = choose(above, v128.load(row, LOW), f64x2.pmax(v128.load(row, LOW), s));
  const change = Step.change(row, s, error);
  const next = add(s, change);
  const inside = v128.and(f64x2.ge(next, low), f64x2.le(next, high));
  const taken = choose(inside, next, half(add(low, high)));
  const bisected = v128.andnot(f64x2.lt(low, high), inside);
  v128.store(row, choose(going, taken, s), DEVIATION);
  v128.store(row, low, LOW);
  v128.store(row, high, HIGH);
  v128.store(row, v128.and(going, v128.or(v128.not(Step.isSmall(change, s)), bisected)), GOING);
}

class Step {
  @inline
  static isNear(x: v128, s: v128): v128 {
    return v128.and(f64x2.le(s, f64x2.splat(NEAR_DEVIATION)), f64x2.le(x, f64x2.splat(NEAR_MONEYNESS)));
  }

  @inline
  static isSmall(change: v128, s: v128): v128 {
    return f64x2.le(magnitude(change), times(STEP_SMALL, atMost(s, 1.0)));
  }

  /** z. */
  @inline
  static middle(row: usize): v128 {
    return half(add(v128.load(row, A), v128.load(row, B)));
  }

  /**
   * M(z - s / 2) - M(z + s / 2) from M(z) and M'(z), if both are near: Taylor's series at z. The derivatives follow from M' = z M - 1. Nine
   * terms leave out less than 1e-16 of the sum.
   */
  @inline
  static difference(z: v128, s: v128, row: usize): v128 {
    let even = v128.load(row, MILLS_Z);
    let odd = f64x2.neg(v128.load(row, SLOPE_Z));
    let sum = odd;
    let scale = one();
    const square = times(0.25, mul(s, s));
    for (let k: f64 = 1.0; k < TAYLOR_DEGREE; k += 2.0) {
      even = add(times(k, even), mul(z, odd));
      odd = add(times(k + 1.0, odd), mul(z, even));
      scale = mul(scale, times(1.0 / ((k + 1.0) * (k + 2.0)), square));
      sum = add(sum, mul(scale, odd));
    }
    return f64x2.neg(mul(s, sum));
  }

  /** Three terms of the series: within 1e-5. */
  @inline
  static roughDifference(z: v128, s: v128, row: usize): v128 {
    const first = f64x2.neg(v128.load(row, SLOPE_Z));
    const second = add(v128.load(row, MILLS_Z), mul(z, first));
    const third = add(add(first, first), mul(z, second));
    const fourth = add(times(3.0, second), mul(z, third));
    const fifth = add(times(4.0, third), mul(z, fourth));
    const square = mul(s, s);
    const rest = add(times(1.0 / 24.0, third), mul(times(1.0 / 1920.0, square), fifth));
    return f64x2.neg(mul(s, add(first, mul(square, rest))));
  }

  /**
   * The step of Householder's method of the third order. It is computed from Newton's step and the ratios of the higher derivatives to the
   * first. Each ratio is multiplied by its power of Newton's step, so that none overflows if s is tiny.
   */
  @inline
  static change(row: usize, s: v128, error: v128): v128 {
    const a = v128.load(row, A);
    const b = v128.load(row, B);
    const newton = mul(error, v128.load(row, SIGNED));
    const relative = div(newton, s);
    const ab = mul(a, b);
    const squares = add(add(mul(a, a), ab), mul(b, b));
    const curvature = sub(mul(relative, ab), error);
    const third = sub(mul(curvature, sub(curvature, error)), mul(mul(relative, relative), squares));
    const up = add(half(curvature), one());
    const down = add(add(curvature, times(1.0 / 6.0, third)), one());
    return div(mul(newton, up), down);
  }
}
