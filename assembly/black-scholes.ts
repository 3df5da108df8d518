import { COLUMN, PAIR, rowAt } from './block';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, mul, sub, times, unless } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';

/** At or below it the option has no time value left: no two doubles are this close in logarithm. */
const DEVIATION_MIN: f64 = 1e-100;
/** N and phi have long reached their limits; bounded so that nothing times phi(d) is 0 * Infinity. */
const D_MAX: f64 = 1e9;
const INV_SQRT_2_PI: f64 = 0.3989422804014327;
/** Rows that go through all passes together, so that they stay in the first-level cache. */
const STRIP: i32 = 128;

// Inputs.
const CALL_PUT: usize = 0;
const SPOT: usize = 1 * COLUMN;
const STRIKE: usize = 2 * COLUMN;
const TTE: usize = 3 * COLUMN;
const IV: usize = 4 * COLUMN;
const RATE: usize = 5 * COLUMN;
const DIVIDEND: usize = 6 * COLUMN;
/** e^(-rT) and e^(-qT): found here unless given. */
const DISCOUNT: usize = 7 * COLUMN;
const DIVIDEND_DISCOUNT: usize = 8 * COLUMN;
// Outputs that differ between call and put; the put's, where both are asked for, lie PUT further.
const PRICE: usize = 9 * COLUMN;
export const DELTA: usize = 10 * COLUMN;
const THETA: usize = 11 * COLUMN;
const RHO: usize = 12 * COLUMN;
export const CHARM: usize = 13 * COLUMN;
const PUT: usize = 9 * COLUMN;
// Outputs that do not.
export const GAMMA: usize = 14 * COLUMN;
const VEGA: usize = 15 * COLUMN;
export const VANNA: usize = 16 * COLUMN;
const VOLGA: usize = 17 * COLUMN;
// Between passes.
const ROOT_TIME: usize = 23 * COLUMN;
const D1: usize = 24 * COLUMN;
const D2: usize = 25 * COLUMN;
const SHARED: usize = 26 * COLUMN;
const SPOT_TAIL: usize = 27 * COLUMN;
const STRIKE_TAIL: usize = 28 * COLUMN;
const PER_SPOT: usize = 29 * COLUMN;
const THETA_DECAY: usize = 30 * COLUMN;
const CHARM_DECAY: usize = 31 * COLUMN;

/**
 * Black-Scholes-Merton with continuous yield (Merton 1973; Haug, The Complete Guide to Option Pricing Formulas, 2nd ed.,
 * chapter 2): price and raw partial derivatives. T = 0 or v = 0 gives the intrinsic value and its derivatives (half the delta at
 * the strike itself, nothing in the terms that carry the density).
 *
 * One density serves both legs, since S e^(-qT) phi(d1) = K e^(-rT) phi(d2): in the tails its rounding is then common to them
 * and does not grow in their difference. Without branches, in passes short enough for the processor to work on several
 * rows at once. `discounted`: the discounts are given, one exponential an expiry instead of two a row.
 */
export function blackScholes(count: i32, block: usize, discounted: bool): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    if (!discounted) discounts(row, end);
    deviations(row, end);
    tails(row, end);
    symmetric(row, end);
    for (let at = row; at < end; at += PAIR) Side.greeks(at, v128.load(at, CALL_PUT), 0);
  }
}

/** Call and put of each row: nearly all of the work serves both, and each has the bits it has alone. */
export function blackScholesPair(count: i32, block: usize, discounted: bool): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    if (!discounted) discounts(row, end);
    deviations(row, end);
    tails(row, end);
    symmetric(row, end);
    for (let at = row; at < end; at += PAIR) {
      Side.greeks(at, f64x2.splat(1.0), 0);
      Side.greeks(at, f64x2.splat(-1.0), PUT);
    }
  }
}

function discounts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const minusT = f64x2.neg(v128.load(row, TTE));
    v128.store(row, Exponential.of(mul(v128.load(row, RATE), minusT)), DISCOUNT);
    v128.store(row, Exponential.of(mul(v128.load(row, DIVIDEND), minusT)), DIVIDEND_DISCOUNT);
  }
}

/** d1, d2 and the square root of T. */
function deviations(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const T = v128.load(row, TTE);
    const carry = mul(sub(v128.load(row, RATE), v128.load(row, DIVIDEND)), T);
    const x = add(Logarithm.ofRatio(v128.load(row, SPOT), v128.load(row, STRIKE)), carry);
    const rootT = f64x2.sqrt(T);
    const s = mul(v128.load(row, IV), rootT);
    const m = atMost(atLeast(div(x, atLeast(s, DEVIATION_MIN)), -D_MAX), D_MAX);
    const half = times(0.5, s);
    v128.store(row, rootT, ROOT_TIME);
    v128.store(row, add(m, half), D1);
    v128.store(row, sub(m, half), D2);
  }
}

/** The shared density, and the smaller side of each leg: S e^(-qT) N(-|d1|) and K e^(-rT) N(-|d2|). */
function tails(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const a1 = f64x2.abs(v128.load(row, D1));
    const a2 = f64x2.abs(v128.load(row, D2));
    const spotNow = mul(v128.load(row, SPOT), v128.load(row, DIVIDEND_DISCOUNT));
    const strikeNow = mul(v128.load(row, STRIKE), v128.load(row, DISCOUNT));
    const spotNearer = f64x2.lt(a1, a2);
    const nearer = choose(spotNearer, a1, a2);
    const density = times(INV_SQRT_2_PI, Exponential.of(mul(times(-0.5, nearer), nearer)));
    const shared = mul(choose(spotNearer, spotNow, strikeNow), density);
    v128.store(row, shared, SHARED);
    v128.store(row, mul(shared, Mills.ratio(a1)), SPOT_TAIL);
    v128.store(row, mul(shared, Mills.ratio(a2)), STRIKE_TAIL);
  }
}

/** What call and put have in common. As v sqrt(T) = s, 1 / v is sqrt(T) / s, and 1 / T is (v / s)^2. */
function symmetric(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const v = v128.load(row, IV);
    const rootT = v128.load(row, ROOT_TIME);
    const d2 = v128.load(row, D2);
    const s = mul(v, rootT);
    const shared = unless(f64x2.lt(s, f64x2.splat(DEVIATION_MIN)), v128.load(row, SHARED));
    const perSpot = div(f64x2.splat(1.0), v128.load(row, SPOT));
    const perDeviation = div(f64x2.splat(1.0), atLeast(s, DEVIATION_MIN));
    const perVolatility = mul(rootT, perDeviation);
    const perRootTime = mul(v, perDeviation);
    const sharedPerSpot = mul(shared, perSpot);
    const vega = mul(shared, rootT);
    v128.store(row, mul(mul(sharedPerSpot, perSpot), perDeviation), GAMMA);
    v128.store(row, vega, VEGA);
    v128.store(row, f64x2.neg(mul(mul(sharedPerSpot, d2), perVolatility)), VANNA);
    v128.store(row, mul(mul(mul(vega, v128.load(row, D1)), d2), perVolatility), VOLGA);
    const carry = sub(v128.load(row, RATE), v128.load(row, DIVIDEND));
    const drift = sub(mul(carry, perDeviation), mul(times(0.5, d2), mul(perRootTime, perRootTime)));
    v128.store(row, perSpot, PER_SPOT);
    v128.store(row, mul(times(0.5, shared), mul(v, perRootTime)), THETA_DECAY);
    v128.store(row, mul(shared, drift), CHARM_DECAY);
  }
}

class Side {
  /** Price, delta, theta, rho and charm of the call (sign 1) or put (sign -1) into the columns `shift` after the call's. */
  @inline
  static greeks(row: usize, sign: v128, shift: usize): void {
    const spotNow = mul(v128.load(row, SPOT), v128.load(row, DIVIDEND_DISCOUNT));
    const strikeNow = mul(v128.load(row, STRIKE), v128.load(row, DISCOUNT));
    const spotLeg = mul(sign, Side.leg(spotNow, v128.load(row, SPOT_TAIL), mul(sign, v128.load(row, D1))));
    const strikeLeg = mul(sign, Side.leg(strikeNow, v128.load(row, STRIKE_TAIL), mul(sign, v128.load(row, D2))));
    const spotCarry = mul(v128.load(row, DIVIDEND), spotLeg);
    const carry = sub(spotCarry, mul(v128.load(row, RATE), strikeLeg));
    const perSpot = v128.load(row, PER_SPOT);
    const out = row + shift;
    // The sum makes 0 of -0.
    v128.store(out, add(atLeast(sub(spotLeg, strikeLeg), 0.0), f64x2.splat(0.0)), PRICE);
    v128.store(out, mul(spotLeg, perSpot), DELTA);
    v128.store(out, sub(carry, v128.load(row, THETA_DECAY)), THETA);
    v128.store(out, mul(strikeLeg, v128.load(row, TTE)), RHO);
    v128.store(out, mul(sub(spotCarry, v128.load(row, CHARM_DECAY)), perSpot), CHARM);
  }

  /** value N(d), given value N(-|d|). */
  @inline
  static leg(value: v128, tail: v128, d: v128): v128 {
    return choose(f64x2.lt(d, f64x2.splat(0.0)), tail, sub(value, tail));
  }
}
