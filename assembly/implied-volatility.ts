/**
 * Worst error found: volatility 0.867, at put, price=0.20902683407100056, S=100, K=3.83343862693, T=10, r=0, q=0.
 * The unit is the change that one rounding of each input and of the result can cause (`scaledError` of the tests).
 */
import { COLUMN, PAIR, rowAt, STRIP } from './block';
import { add, atMost, choose, div, half, magnitude, mul, one, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { Rounding } from './rounding';
import { timeValues } from './time-value';
import {
  DEVIATION,
  FIRST,
  HIGH,
  IV,
  LN_PART,
  LN_REST,
  LOW,
  MONEYNESS,
  MONEYNESS_LOW,
  SCRATCH,
  SECOND,
  STATUS,
  TTE,
  UNSOLVED,
} from './volatility-columns';
import { bracket, guess } from './volatility-guess';

const LN_SQRT_2_PI: f64 = 0.9189385332046728;
/** Maximum number of further steps for a row in which two steps from the guess are not enough. */
const STEPS_MAX: i32 = 30;
/**
 * Bounds for near rows. A row is near if s and x are at most these two bounds. In a near row, M(a) and M(b) are so close that their
 * difference would lose digits. The comment of `impliedVolatility` explains the symbols.
 */
const NEAR_DEVIATION: f64 = 0.55;
const NEAR_MONEYNESS: f64 = 2.0;
const TAYLOR_DEGREE: f64 = 17.0;
/**
 * A row is solved when its step is at most this size, relative to s (or to 1 if s is larger). The remaining error has the order of the
 * fourth power of the step.
 */
const STEP_SMALL: f64 = 1e-4;

/** The numbers a and b, and Mills' ratios M(|a|) and M(|b|). */
const A: usize = SCRATCH + 15 * COLUMN;
const B: usize = SCRATCH + 16 * COLUMN;
const MILLS_A: usize = SCRATCH + 17 * COLUMN;
const MILLS_B: usize = SCRATCH + 18 * COLUMN;
/** M(z). */
const MILLS_Z: usize = SCRATCH + 19 * COLUMN;
/** The difference M(a) - M(b) in near rows. */
const DIFFERENCE: usize = SCRATCH + 20 * COLUMN;
/** The value part / phi(a) in rows that are solved for part, and -rest / phi(a) in rows that are solved for rest. */
const SIGNED_VALUE: usize = SCRATCH + 21 * COLUMN;
/** The logarithm of the target minus the logarithm of the present value. */
const ERROR: usize = MILLS_A;
/** -M'(z). */
const SLOPE_Z: usize = SCRATCH + 22 * COLUMN;
/**
 * Two lists of pairs of rows, in LISTS bytes, beginning at FAR. An entry is the address of a pair, in four bytes. The list of far pairs
 * grows upward from the start, and the list of near pairs grows downward from the end. For the last rows of a block, the lists extend into
 * the next column.
 */
const FAR: usize = SECOND;
const LISTS: usize = 512;

/**
 * Computes the volatility at which Black-Scholes-Merton gives the price. The result is 0 if the price is at or below the discounted
 * intrinsic value. The result is NaN if no volatility gives the price: if the price is at or above the largest possible value of the option
 * (S e^(-qT) for a call, K e^(-rT) for a put), if an input is not finite, or if S, K or T is not positive.
 *
 * Notation: F is the forward. N and phi are the distribution function and the density of the standard normal distribution, and M(x) = N(-x)
 * / phi(x) is Mills' ratio. The unknown is s = v sqrt(T), the standard deviation of the log-return. x = |ln(F / K)| and z = x / s. The legs
 * are S e^(-qT) and K e^(-rT). By put-call parity, call and put have the same time value: the price of the option that is out of the money.
 * The time value is at most the smaller leg. `part` is the time value divided by the smaller leg, and rest = 1 - part. With a = -d1 = z - s
 * / 2 and b = -d2 = z + s / 2:
 *
 *     part = phi(a) (M(a) - M(b)),    rest = phi(a) (M(-a) + M(b)),    d part / d s = phi(a).
 *
 * Either the equation of part or the equation of rest is solved. The kernel compares the logarithms of the equation's two sides, because no
 * tail underflows or loses digits in a logarithm. Rows with a < 0 are solved for rest, unless they are near. All other rows are solved for
 * part.
 *
 * The method is Householder's method of the third order, from a guess with an error of a few percent. Two steps are usually enough. All
 * rows take the first two steps together, in short passes, as in black-scholes.ts. After that, each pair of rows that needs further steps
 * takes the steps alone. Further steps stay within a bracket: a step that would leave the bracket is replaced by a bisection.
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
      if (v128.any_true(v128.load(row, UNSOLVED))) furtherSteps(row);
    }
    annualise(start, end);
  }
}

/** Takes further steps in a pair of rows for which two steps are not enough. */
function furtherSteps(row: usize): void {
  bracket(row);
  for (let taken = 0; taken < STEPS_MAX && v128.any_true(v128.load(row, UNSOLVED)); taken++) {
    evaluate(row, row + PAIR, false);
    bracketedStep(row);
  }
}

/** Computes v = s / sqrt(T), and writes the results. */
function annualise(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const status = v128.load(row, STATUS);
    const volatility = div(v128.load(row, DEVIATION), f64x2.sqrt(v128.load(row, TTE)));
    v128.store(row, choose(f64x2.eq(status, one()), volatility, status), IV);
  }
}

/** Computes the values that a step from the present s needs. If `roughly` is true, allows errors that do not matter in the first step. */
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
 * Computes a and b, and writes two lists of pairs of rows. The list that grows upward from `far` has the pairs with at least one row that
 * is not near. The list that grows downward from `near` has the pairs with at least one near row. Returns the end of the first list, and
 * stores the start of the second list at `near`.
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

/** Computes M(|x|) of the listed pairs. `x` and `ratio` are the offsets of the input column and the output column. */
function mills(listed: usize, end: usize, x: usize, ratio: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    v128.store(row + ratio, Mills.ratio(magnitude(v128.load(row + x))));
  }
}

/** Computes M(z) and -M'(z) of the listed pairs. */
function nearRatios(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const z = Step.middle(row);
    const q = Mills.q(z);
    v128.store(row, div(Mills.p(z), q), MILLS_Z);
    v128.store(row, div(Mills.r(z), q), SLOPE_Z);
  }
}

/** Computes M(a) - M(b) of the listed pairs, with an error that does not matter in the step from the guess. */
function roughDifferences(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const difference = Step.roughDifference(Step.middle(row), v128.load(row, DEVIATION), row);
    v128.store(row, difference, DIFFERENCE);
  }
}

/** Computes M(a) - M(b) of the listed pairs. */
function differences(listed: usize, end: usize): void {
  for (; listed < end; listed += 4) {
    const row = <usize>load<u32>(listed);
    const difference = Step.difference(Step.middle(row), v128.load(row, DEVIATION), row);
    v128.store(row, difference, DIFFERENCE);
  }
}

/** Computes part / phi(a) or -rest / phi(a), and the first half of the logarithm of its absolute value. */
function values(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const near = Step.isNear(v128.load(row, MONEYNESS), v128.load(row, DEVIATION));
    const solvesRest = v128.andnot(f64x2.lt(v128.load(row, A), f64x2.splat(0.0)), near);
    const millsA = v128.load(row, MILLS_A);
    const millsB = v128.load(row, MILLS_B);
    const separate = choose(solvesRest, add(millsA, millsB), sub(millsA, millsB));
    const value = choose(near, v128.load(row, DIFFERENCE), separate);
    v128.store(row, choose(solvesRest, f64x2.neg(value), value), SIGNED_VALUE);
    Logarithm.reduce(value, one(), row, FIRST);
  }
}

/** Computes the logarithm of the target minus the logarithm of the present value. The first logarithm is ln(part) or ln(rest). */
function errors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const a = v128.load(row, A);
    const solvesRest = f64x2.lt(v128.load(row, SIGNED_VALUE), f64x2.splat(0.0));
    const target = choose(solvesRest, v128.load(row, LN_REST), v128.load(row, LN_PART));
    const rest = sub(f64x2.splat(LN_SQRT_2_PI), Logarithm.reduced(row, FIRST));
    v128.store(row, add(add(target, mul(half(a), a)), rest), ERROR);
  }
}

/** Corrects ERROR for the rounding of z, a and a^2. In the tail, a^2 / 2 is large, so these roundings have a large effect on ERROR. */
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

/** Takes one step in all rows. If a step does not lead to a positive and finite s, the row keeps its s and stays unsolved. */
function steps(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const s = v128.load(row, DEVIATION);
    const change = Step.change(row, s, v128.load(row, ERROR));
    const next = add(s, change);
    const sensible = v128.and(f64x2.gt(next, f64x2.splat(0.0)), f64x2.lt(next, f64x2.splat(Infinity)));
    const done = v128.and(sensible, Step.isSmall(change, s));
    v128.store(row, choose(sensible, next, s), DEVIATION);
    v128.store(row, v128.andnot(f64x2.eq(v128.load(row, STATUS), one()), done), UNSOLVED);
  }
}

/** Takes one step in a pair of rows. A step that would leave the bracket is replaced by a bisection. */
function bracketedStep(row: usize): void {
  const s = v128.load(row, DEVIATION);
  const unsolved = v128.load(row, UNSOLVED);
  const error = v128.load(row, ERROR);
  const above = f64x2.lt(mul(error, v128.load(row, SIGNED_VALUE)), f64x2.splat(0.0));
  const high = choose(above, f64x2.pmin(v128.load(row, HIGH), s), v128.load(row, HIGH));
  const low = choose(above, v128.load(row, LOW), f64x2.pmax(v128.load(row, LOW), s));
  const change = Step.change(row, s, error);
  const next = add(s, change);
  const inside = v128.and(f64x2.ge(next, low), f64x2.le(next, high));
  const taken = choose(inside, next, half(add(low, high)));
  const bisected = v128.andnot(f64x2.lt(low, high), inside);
  v128.store(row, choose(unsolved, taken, s), DEVIATION);
  v128.store(row, low, LOW);
  v128.store(row, high, HIGH);
  v128.store(row, v128.and(unsolved, v128.or(v128.not(Step.isSmall(change, s)), bisected)), UNSOLVED);
}

class Step {
  /** Returns the mask of the near rows. */
  @inline
  static isNear(x: v128, s: v128): v128 {
    return v128.and(f64x2.le(s, f64x2.splat(NEAR_DEVIATION)), f64x2.le(x, f64x2.splat(NEAR_MONEYNESS)));
  }

  /** Returns the mask of the solved rows, whose step is small enough. */
  @inline
  static isSmall(change: v128, s: v128): v128 {
    return f64x2.le(magnitude(change), times(STEP_SMALL, atMost(s, 1.0)));
  }

  /** Returns z, which is the mean of a and b. */
  @inline
  static middle(row: usize): v128 {
    return half(add(v128.load(row, A), v128.load(row, B)));
  }

  /**
   * Returns M(z - s / 2) - M(z + s / 2) of near rows, computed from M(z) and M'(z) by Taylor's series at z. The higher derivatives follow
   * from M' = z M - 1. The terms after the ninth term are less than 1e-16 of the sum.
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

  /** Returns the result of `difference`, computed from the first three terms of the series. The relative error is below 1e-5. */
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
   * Returns the step of Householder's method of the third order. The step is computed from Newton's step, and from the ratios of the second
   * and third derivatives to the first derivative. Each ratio is multiplied by a power of Newton's step, so that no number overflows if s
   * is tiny.
   */
  @inline
  static change(row: usize, s: v128, error: v128): v128 {
    const a = v128.load(row, A);
    const b = v128.load(row, B);
    const newton = mul(error, v128.load(row, SIGNED_VALUE));
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
