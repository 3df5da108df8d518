import { COLUMN, PAIR, rowAt } from './block';
import { Exponential } from './exp';
import { add, atMost, choose, div, mul, step, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';

const LN_2: f64 = 0.6931471805599453;
const LN_SQRT_2_PI: f64 = 0.9189385332046728;
const SQRT_2_PI: f64 = 2.5066282746310007;
const HALF_SQRT_2_PI: f64 = 1.2533141373155003;
/** Fourth-order steps from a bracketed guess: two or three are usual; the rest is for bisection, should a step leave the bracket. */
const STEPS_MAX: i32 = 32;
const STEPS_USUAL: i32 = 2;
const TAYLOR_MAX: f64 = 0.2;
const TAYLOR_DEGREE: f64 = 11.0;
/** What `inverseTail` may err by, and a little more. */
const GUESS_ERROR: f64 = 0.0006;
/** Rows that go through all passes together, so that they stay in the first-level cache. */
const STRIP: i32 = 128;
/** A step this small, relative, leaves an error of its fourth power. */
const STEP_SMALL: f64 = 1e-4;

// Inputs.
const CALL_PUT: usize = 0;
const PRICE: usize = 1 * COLUMN;
const SPOT: usize = 2 * COLUMN;
const STRIKE: usize = 3 * COLUMN;
const TTE: usize = 4 * COLUMN;
const RATE: usize = 5 * COLUMN;
const DIVIDEND: usize = 6 * COLUMN;
// Output.
const IV: usize = 7 * COLUMN;
// Between passes.
const MONEYNESS: usize = 8 * COLUMN;
const PART: usize = 9 * COLUMN;
const LN_PART: usize = 10 * COLUMN;
const LN_REST: usize = 11 * COLUMN;
const DEVIATION: usize = 12 * COLUMN;
const LOW: usize = 13 * COLUMN;
const HIGH: usize = 14 * COLUMN;
const GOING: usize = 15 * COLUMN;
/** 1, or the answer of a row that has no deviation to find: 0 or NaN. */
const ANSWER: usize = 16 * COLUMN;

/**
 * The volatility at which Black-Scholes-Merton gives the price. 0 where the price is at or below the discounted intrinsic value;
 * NaN where no volatility gives it: at or above what the option can be worth at most (S e^(-qT) for a call, K e^(-rT) for a
 * put), or where an input is not finite, or S, K or T not positive.
 *
 * Solved for is s = v sqrt(T). With the option out of the money by x = |ln(F / K)|, worth the time value of either side by parity
 * and at most the lesser leg, `part` its share of that, rest = 1 - part, z = x / s, a = -d1 = z - s / 2, b = -d2 = z + s / 2:
 *
 *     part = phi(a) (M(a) - M(b)),    rest = phi(a) (M(-a) + M(b)),    d part / d s = phi(a).
 *
 * One of both is solved for in its logarithm, in which no tail underflows or loses digits: rest where a < 0, part elsewhere and
 * where s is small. A step of one row is a long chain, so rows take their steps in passes, in which they overlap.
 */
export function impliedVolatility(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    const start = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    prepare(start, end);
    bracket(start, end);
    for (let taken = 0; taken < STEPS_USUAL; taken++) improve(start, end);
    for (let row = start; row < end; row += PAIR) {
      for (let taken = STEPS_USUAL; taken < STEPS_MAX && v128.any_true(v128.load(row, GOING)); taken++) {
        improve(row, row + PAIR);
      }
      const answer = v128.load(row, ANSWER);
      const volatility = div(v128.load(row, DEVIATION), f64x2.sqrt(v128.load(row, TTE)));
      v128.store(row, choose(f64x2.eq(answer, f64x2.splat(1.0)), volatility, answer), IV);
    }
  }
}

function prepare(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const zero = f64x2.splat(0.0);
    const quoted = v128.load(row, PRICE);
    const S = v128.load(row, SPOT);
    const K = v128.load(row, STRIKE);
    const T = v128.load(row, TTE);
    const r = v128.load(row, RATE);
    const q = v128.load(row, DIVIDEND);
    const isCall = f64x2.gt(v128.load(row, CALL_PUT), zero);

    const spotNow = mul(S, Exponential.of(f64x2.neg(mul(q, T))));
    const strikeNow = mul(K, Exponential.of(f64x2.neg(mul(r, T))));
    const x = f64x2.abs(add(Logarithm.ofRatio(S, K), mul(sub(r, q), T)));
    const most = choose(isCall, spotNow, strikeNow);
    const other = choose(isCall, strikeNow, spotNow);
    const intrinsic = f64x2.pmax(zero, sub(most, other));
    const least = f64x2.pmin(spotNow, strikeNow);
    const timeValue = sub(quoted, intrinsic);
    const upside = sub(most, quoted);
    v128.store(row, x, MONEYNESS);
    v128.store(row, div(timeValue, least), PART);
    v128.store(row, Logarithm.ofRatio(timeValue, least), LN_PART);
    v128.store(row, Logarithm.ofRatio(upside, least), LN_REST);

    const infinite = f64x2.splat(Infinity);
    const finite = v128.and(f64x2.lt(f64x2.abs(quoted), infinite), f64x2.lt(x, infinite));
    const bounded = v128.and(f64x2.gt(least, zero), f64x2.lt(most, infinite));
    const positive = v128.and(f64x2.gt(f64x2.pmin(S, K), zero), f64x2.gt(T, zero));
    const worthless = f64x2.le(timeValue, zero);
    const priced = v128.or(worthless, f64x2.gt(upside, zero));
    const possible = v128.and(v128.and(v128.and(finite, bounded), positive), priced);
    v128.store(row, choose(possible, choose(worthless, zero, f64x2.splat(1.0)), f64x2.splat(NaN)), ANSWER);
  }
}

/** A first deviation and two it lies between: part <= N(d1) and rest <= 2 N(-d1), as M falls and b >= |a|. */
function bracket(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const part = v128.load(row, PART);
    const lnPart = v128.load(row, LN_PART);
    const lnRest = v128.load(row, LN_REST);
    const small = f64x2.lt(part, f64x2.splat(0.5));
    const tail = Guess.inverseTail(choose(small, lnPart, lnRest));
    const low = Guess.deviationAt(sub(choose(small, f64x2.neg(tail), tail), f64x2.splat(GUESS_ERROR)), x);
    const halfRest = sub(lnRest, f64x2.splat(LN_2));
    const high = Guess.deviationAt(add(Guess.inverseTail(halfRest), f64x2.splat(GUESS_ERROR)), x);
    const first = choose(small, Guess.smallPart(part, lnPart, x), high);
    v128.store(row, low, LOW);
    v128.store(row, high, HIGH);
    v128.store(row, f64x2.pmax(low, f64x2.pmin(high, first)), DEVIATION);
    v128.store(row, f64x2.eq(v128.load(row, ANSWER), f64x2.splat(1.0)), GOING);
  }
}

/** One step of Householder's third order, or of bisection where that would leave the bracket. */
function improve(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = v128.load(row, MONEYNESS);
    const lnPart = v128.load(row, LN_PART);
    const lnRest = v128.load(row, LN_REST);
    const going = v128.load(row, GOING);
    const s = v128.load(row, DEVIATION);

    const perS = div(f64x2.splat(1.0), s);
    const z = mul(x, perS);
    const half = times(0.5, s);
    const a = sub(z, half);
    const b = add(z, half);
    const near = v128.and(f64x2.le(s, f64x2.splat(TAYLOR_MAX)), f64x2.le(mul(z, s), f64x2.splat(1.0)));
    const upper = v128.andnot(f64x2.lt(a, f64x2.splat(0.0)), near);
    const millsA = Mills.ratio(f64x2.abs(a));
    const millsB = Mills.ratio(b);
    const apart = choose(upper, add(millsA, millsB), sub(millsA, millsB));
    const value = choose(near, Guess.millsDifference(z, s), apart);
    const exponent = step(times(0.5, a), a, LN_SQRT_2_PI);
    const target = choose(upper, lnRest, lnPart);
    const error = sub(sub(Logarithm.ofRatio(value, f64x2.splat(1.0)), exponent), target);
    const signed = choose(upper, f64x2.neg(value), value);
    const newton = f64x2.neg(mul(error, signed));
    const above = f64x2.lt(newton, f64x2.splat(0.0));
    const high = choose(above, f64x2.pmin(v128.load(row, HIGH), s), v128.load(row, HIGH));
    const low = choose(above, v128.load(row, LOW), f64x2.pmax(v128.load(row, LOW), s));

    // From the ratios of the higher derivatives to the first.
    const slope = div(f64x2.splat(1.0), signed);
    const ab = mul(a, b);
    const squares = add(add(mul(a, a), ab), mul(b, b));
    const curvature = sub(mul(ab, perS), slope);
    const third = sub(mul(curvature, sub(curvature, slope)), mul(squares, mul(perS, perS)));
    const up = step(times(0.5, newton), curvature, 1.0);
    const down = step(add(curvature, times(1.0 / 6.0, mul(newton, third))), newton, 1.0);
    const change = div(mul(newton, up), down);
    const next = add(s, change);
    const inside = v128.and(f64x2.ge(next, low), f64x2.le(next, high));
    const taken = choose(inside, next, times(0.5, add(low, high)));
    const large = f64x2.gt(f64x2.abs(change), times(STEP_SMALL, s));
    const bisected = v128.andnot(f64x2.lt(low, high), inside);
    v128.store(row, choose(going, taken, s), DEVIATION);
    v128.store(row, low, LOW);
    v128.store(row, high, HIGH);
    v128.store(row, v128.and(going, v128.or(large, bisected)), GOING);
  }
}

class Guess {
  /**
   * M(z - s / 2) - M(z + s / 2) for z >= 0, s > 0 where both are close and the plain difference would lose digits: Taylor's series at
   * z, whose derivatives follow from M' = z M - 1; six terms leave out less than 1e-16 of the sum. What it loses itself, z^2 ulp,
   * the volatility gains back, as it moves the price by that much more.
   */
  @inline
  static millsDifference(z: v128, s: v128): v128 {
    let even = Mills.ratio(z);
    let odd = sub(mul(z, even), f64x2.splat(1.0));
    let sum = odd;
    let scale = f64x2.splat(1.0);
    const square = times(0.25, mul(s, s));
    for (let k: f64 = 1.0; k < TAYLOR_DEGREE; k += 2.0) {
      even = add(times(k, even), mul(z, odd));
      odd = add(times(k + 1.0, odd), mul(z, even));
      scale = mul(scale, times(1.0 / ((k + 1.0) * (k + 2.0)), square));
      sum = add(sum, mul(scale, odd));
    }
    return f64x2.neg(mul(s, sum));
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

  /**
   * s to a few percent, for part < 1/2. Written in z = x / s, part = x e^(x / 2 - s^2 / 8) phi(z) (1 - z M(z)) / z as long as s is
   * small (Bachelier's formula); with 1 - z M(z) put as 1 / (1 + sqrt(pi / 2) z + z^2), right at both ends, its logarithm
   * takes Newton's method to z.
   */
  @inline
  static smallPart(part: v128, lnPart: v128, x: v128): v128 {
    const t = add(sub(Logarithm.ofRatio(x, f64x2.splat(1.0)), lnPart), step(x, f64x2.splat(0.5), -LN_SQRT_2_PI));
    let z = choose(f64x2.gt(t, f64x2.splat(1.0)), f64x2.sqrt(add(t, t)), f64x2.splat(0.7));
    for (let taken = 0; taken < 2; taken++) {
      const zz = mul(z, z);
      const l = add(step(z, f64x2.splat(HALF_SQRT_2_PI), 1.0), zz);
      const bend = div(times(0.125, mul(x, x)), zz);
      const excess = sub(add(add(times(0.5, zz), bend), Logarithm.ofRatio(mul(z, l), f64x2.splat(1.0))), t);
      const perZ = div(f64x2.splat(1.0), z);
      const slope = add(
        add(sub(z, mul(add(bend, bend), perZ)), perZ),
        div(step(z, f64x2.splat(2.0), HALF_SQRT_2_PI), l),
      );
      z = f64x2.pmax(times(0.3, z), sub(z, div(excess, slope)));
    }
    const atTheMoney = times(SQRT_2_PI, add(part, times(0.5, x)));
    return choose(f64x2.gt(part, add(x, x)), atTheMoney, div(x, z));
  }
}
