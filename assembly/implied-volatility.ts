/** Worst error found: volatility 0.867, at put, price=0.20902683407100056, S=100, K=3.83343862693, T=10, r=0, q=0. */
import { COLUMN, PAIR, rowAt } from './block';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, half, magnitude, mul, one, step, sub, times } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { Rounding } from './rounding';

const LN_2: f64 = 0.6931471805599453;
const LN_SQRT_2_PI: f64 = 0.9189385332046728;
const SQRT_2_PI: f64 = 2.5066282746310007;
const HALF_SQRT_2_PI: f64 = 1.2533141373155003;
/** Where two steps from the guess are not enough: these, bracketed, and bisection should one leave the bracket. */
const STEPS_MAX: i32 = 30;
/** Where Mills' ratios at a and b are so close that their difference would lose digits. */
const NEAR_DEVIATION: f64 = 0.55;
const NEAR_MONEYNESS: f64 = 2.0;
/** Up to here e^x - 1 needs no more than its polynomial. */
const CLOSE: f64 = 0.34;
/** 2^64. */
const SCALE: f64 = 4294967296.0 * 4294967296.0;
const TAYLOR_DEGREE: f64 = 17.0;
/** What `inverseTail` may err by, and a little more. */
const GUESS_ERROR: f64 = 0.0006;
/** Rows that go through all passes together, so that they stay in the first-level cache. */
const STRIP: i32 = 128;
/** A step this small, relative to s or to 1 where s is larger, leaves an error of its fourth power. */
const STEP_SMALL: f64 = 1e-4;

// From test/fixtures/coefficients.ts.
const U0: f64 = -0.13331;
const U1: f64 = 0.72193;
const U2: f64 = -0.78354;
const U3: f64 = 0.3668;
const V1: f64 = -0.4853;
const V2: f64 = 0.25878;

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
/** Halved logarithms and exponentials: pairs of columns. */
const FIRST: usize = 17 * COLUMN;
const SECOND: usize = 19 * COLUMN;
const THIRD: usize = 21 * COLUMN;
/** What MONEYNESS lacks. */
const MONEYNESS_LOW: usize = 22 * COLUMN;
const SPOT_NOW: usize = 23 * COLUMN;
const STRIKE_NOW: usize = 24 * COLUMN;
const QUOTIENT_ERROR: usize = 25 * COLUMN;
const EXCESS: usize = QUOTIENT_ERROR;
const TIME_VALUE: usize = 26 * COLUMN;
const REST: usize = 27 * COLUMN;
const LEAST: usize = 28 * COLUMN;
// Of the guess.
const TARGET: usize = 23 * COLUMN;
const Z: usize = 24 * COLUMN;
// Of a step.
const A: usize = 23 * COLUMN;
const B: usize = 24 * COLUMN;
const MILLS_A: usize = 25 * COLUMN;
const MILLS_B: usize = 26 * COLUMN;
const MILLS_Z: usize = 27 * COLUMN;
const DIFFERENCE: usize = 28 * COLUMN;
const SIGNED: usize = 29 * COLUMN;
const ERROR: usize = MILLS_A;
const SLOPE_Z: usize = 30 * COLUMN;
/** Two lists of addresses, the second up to this many bytes further; from the last rows on they reach into the next column. */
const FAR: usize = SECOND;
const LISTS: usize = 512;

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
 * where s is small. Two steps of Householder's third order from a guess good to a few percent are usual, all rows in short passes,
 * as in black-scholes.ts; rows that are still on their way then go on by themselves.
 */
export function impliedVolatility(count: i32, block: usize): void {
  for (let from = 0; from < count; from += STRIP) {
    const start = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    prepare(start, end);
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

/** One pair of rows, where the steps went astray or were slow. */
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

function prepare(row: usize, end: usize): void {
  exponents(row, end);
  presentValues(row, end);
  quotientErrors(row, end);
  moneyness(row, end);
  excesses(row, end);
  timeValues(row, end);
  parts(row, end);
  logarithms(row, end);
}

function exponents(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const minusT = f64x2.neg(v128.load(row, TTE));
    Exponential.reduce(mul(v128.load(row, RATE), minusT), row, FIRST);
    Exponential.reduce(mul(v128.load(row, DIVIDEND), minusT), row, SECOND);
    Logarithm.reduce(v128.load(row, SPOT), v128.load(row, STRIKE), row, THIRD);
  }
}

function presentValues(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, mul(v128.load(row, STRIKE), Exponential.reduced(row, FIRST)), STRIKE_NOW);
    v128.store(row, mul(v128.load(row, SPOT), Exponential.reduced(row, SECOND)), SPOT_NOW);
  }
}

/** What 2 z, z the rounded quotient (S - K 2^k) / (S + K 2^k), lacks to the true one. */
function quotientErrors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const S = v128.load(row, SPOT);
    const K = v128.load(row, STRIKE);
    const scaled = i64x2.add(K, Logarithm.powers(S, K));
    const sum = add(S, scaled);
    const part = sub(sum, S);
    const ofSum = add(sub(S, sub(sum, part)), sub(scaled, part));
    const z = v128.load(row, THIRD);
    const product = mul(z, sum);
    const error = add(Rounding.ofProduct(z, sum, product), mul(z, ofSum));
    const lacking = div(sub(sub(sub(S, scaled), product), error), sum);
    v128.store(row, add(lacking, lacking), QUOTIENT_ERROR);
  }
}

/** ln(F / K), and what its rounding has left out. */
function moneyness(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const z = v128.load(row, THIRD);
    const k = v128.load(row, THIRD + COLUMN);
    const twice = add(z, z);
    const rest = add(Logarithm.rest(z, k), v128.load(row, QUOTIENT_ERROR));
    const small = add(twice, rest);
    const ofPower = Logarithm.ofPower(k);
    const log = add(ofPower, small);
    const carry = mul(sub(v128.load(row, RATE), v128.load(row, DIVIDEND)), v128.load(row, TTE));
    const x = add(log, carry);
    const part = sub(x, log);
    const ofX = add(sub(log, sub(x, part)), sub(carry, part));
    v128.store(row, x, MONEYNESS);
    v128.store(row, add(ofX, add(sub(small, sub(log, ofPower)), sub(rest, sub(small, twice)))), MONEYNESS_LOW);
  }
}

/** What the greater leg has over the lesser, as a share of that, where they are close. */
function excesses(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = magnitude(v128.load(row, MONEYNESS));
    v128.store(row, Exponential.lessOne(atMost(x, CLOSE)), EXCESS);
  }
}

/** Time value, and what the price lacks to its cap; whether there is a volatility. */
function timeValues(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const zero = f64x2.splat(0.0);
    const quoted = v128.load(row, PRICE);
    const spotNow = v128.load(row, SPOT_NOW);
    const strikeNow = v128.load(row, STRIKE_NOW);
    const signed = v128.load(row, MONEYNESS);
    const x = magnitude(signed);
    const isCall = f64x2.gt(v128.load(row, CALL_PUT), zero);
    const most = choose(isCall, spotNow, strikeNow);
    const least = f64x2.pmin(spotNow, strikeNow);
    // Where the legs are close, there is less rounding in this than in their difference.
    const difference = f64x2.pmax(zero, sub(most, choose(isCall, strikeNow, spotNow)));
    const excess = v128.and(v128.xor(isCall, f64x2.lt(signed, zero)), mul(least, v128.load(row, EXCESS)));
    const intrinsic = choose(f64x2.lt(x, f64x2.splat(CLOSE)), excess, difference);
    const timeValue = sub(quoted, intrinsic);
    const upside = sub(most, quoted);
    const sign = v128.xor(signed, x);
    v128.store(row, x, MONEYNESS);
    v128.store(row, v128.xor(sign, v128.load(row, MONEYNESS_LOW)), MONEYNESS_LOW);
    // The same, and free of the greater leg's rounding where it is the greater part.
    const rest = choose(f64x2.lt(add(timeValue, timeValue), least), sub(least, timeValue), upside);
    v128.store(row, timeValue, TIME_VALUE);
    v128.store(row, rest, REST);
    v128.store(row, least, LEAST);

    const infinite = f64x2.splat(Infinity);
    const finite = v128.and(f64x2.lt(magnitude(quoted), infinite), f64x2.lt(x, infinite));
    const bounded = v128.and(f64x2.gt(least, zero), f64x2.lt(most, infinite));
    const inputs = f64x2.pmin(f64x2.pmin(v128.load(row, SPOT), v128.load(row, STRIKE)), v128.load(row, TTE));
    const worthless = f64x2.le(f64x2.pmin(timeValue, sub(quoted, difference)), zero);
    const priced = v128.or(worthless, f64x2.gt(upside, zero));
    const possible = v128.and(v128.and(v128.and(finite, bounded), f64x2.gt(inputs, zero)), priced);
    v128.store(row, choose(possible, choose(worthless, zero, one()), f64x2.splat(NaN)), ANSWER);
  }
}

/** Both as shares of the lesser leg. */
function parts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const timeValue = v128.load(row, TIME_VALUE);
    const least = v128.load(row, LEAST);
    v128.store(row, div(timeValue, least), PART);
    // Scaled, so that the least there are have a logarithm too.
    const scaled = times(SCALE, least);
    Logarithm.reduce(times(SCALE, timeValue), scaled, row, FIRST);
    Logarithm.reduce(times(SCALE, v128.load(row, REST)), scaled, row, SECOND);
  }
}

function logarithms(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, Logarithm.reduced(row, FIRST), LN_PART);
    v128.store(row, Logarithm.reduced(row, SECOND), LN_REST);
  }
}

/**
 * s to a few percent. Where part < 1/2, written in z = x / s, part = x e^(x / 2 - s^2 / 8) phi(z) (1 - z M(z)) / z as long as s is
 * small (Bachelier's formula). With 1 - z M(z) put as 1 / (1 + sqrt(pi / 2) z + z^2), right at both ends, its logarithm says
 *
 *     z^2 / 2 + s^2 / 8 + ln(z (1 + sqrt(pi / 2) z + z^2)) = t:
 *
 * a rational function gives z without the second term, a step of Newton's method takes that in. Elsewhere the most s can be.
 */
function guess(row: usize, end: usize): void {
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

/** The guess for part < 1/2; whether there are others. */
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

/** Two deviations the right one lies between; the present one is brought there. */
function bracket(row: usize): void {
  const x = v128.load(row, MONEYNESS);
  const lnPart = v128.load(row, LN_PART);
  const lnRest = v128.load(row, LN_REST);
  const low = Guess.least(Guess.isLarge(v128.load(row, PART)), lnPart, lnRest, x);
  const high = Guess.most(lnRest, x);
  v128.store(row, low, LOW);
  v128.store(row, high, HIGH);
  v128.store(row, f64x2.pmax(low, f64x2.pmin(high, v128.load(row, DEVIATION))), DEVIATION);
}

/** What a step needs at the present deviation; `roughly`: good for a guess. */
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
 * a and b, and two lists of the pairs of rows, by addresses of four bytes: from `far` up, those not both near, to the end that is
 * answered; from `near` down, those not both far, to the start that is stored there.
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

/** What is missing to the logarithm of the price. */
function errors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const a = v128.load(row, A);
    const upper = f64x2.lt(v128.load(row, SIGNED), f64x2.splat(0.0));
    const target = choose(upper, v128.load(row, LN_REST), v128.load(row, LN_PART));
    const rest = sub(f64x2.splat(LN_SQRT_2_PI), Logarithm.reduced(row, FIRST));
    v128.store(row, add(add(target, mul(half(a), a)), rest), ERROR);
  }
}

/** In the tail a^2 / 2 is large, and so is what the rounding of z and a does to it: here it is taken back. */
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

/** One step of all rows. One that is not to a positive number is not taken, and the row not done. */
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

/** One step of a pair of rows, or bisection where it would leave the bracket. */
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
   * M(z - s / 2) - M(z + s / 2) from M(z) and M'(z), where both are near: Taylor's series at z, whose derivatives follow from
   * M' = z M - 1; nine terms leave out less than 1e-16 of the sum.
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

  /** Three terms of it: within 1e-5. */
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
   * The step of Householder's method of the third order, from Newton's and the ratios of the higher derivatives to the first, each
   * times its power of Newton's step, so that none overflows where s is tiny.
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

class Guess {
  @inline
  static isLarge(part: v128): v128 {
    return f64x2.ge(part, f64x2.splat(0.5));
  }

  /** Part <= N(d1). */
  @inline
  static least(large: v128, lnPart: v128, lnRest: v128, x: v128): v128 {
    const tail = Guess.inverseTail(choose(large, lnRest, lnPart));
    const d1 = choose(large, tail, f64x2.neg(tail));
    return Guess.deviationAt(sub(d1, f64x2.splat(GUESS_ERROR)), x);
  }

  /** Rest <= 2 N(-d1), as M falls and b >= |a|. */
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
