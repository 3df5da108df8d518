/**
 * Worst error found: price 1.84, at call, S=4131.63, K=4461.94, T=0.00275451, v=0.0413862, r=0.0379116, q=0.0459202.
 * The unit is the change that one rounding of each input and of the result can cause (`scaledError` of the tests).
 */
import { COLUMN, PAIR, rowAt, STRIP } from './block';
import { BlackScholesColumn } from './columns';
import { Exponential } from './exp';
import { add, atLeast, atMost, choose, div, half, magnitude, mul, one, sub, times, unless } from './lanes';
import { Logarithm } from './log';
import { Mills } from './mills';
import { D_MAX, DEVIATION_MIN, INV_SQRT_2_PI } from './normal';

// Inputs.
const CALL_PUT: usize = <usize>BlackScholesColumn.callPut * COLUMN;
const SPOT: usize = <usize>BlackScholesColumn.spot * COLUMN;
const STRIKE: usize = <usize>BlackScholesColumn.strike * COLUMN;
const TTE: usize = <usize>BlackScholesColumn.tte * COLUMN;
const IV: usize = <usize>BlackScholesColumn.iv * COLUMN;
const RATE: usize = <usize>BlackScholesColumn.rate * COLUMN;
const DIVIDEND: usize = <usize>BlackScholesColumn.dividend * COLUMN;
/** The discounts e^(-rT) and e^(-qT). The discounts are inputs if `discounted` is true. */
const DISCOUNT: usize = <usize>BlackScholesColumn.discount * COLUMN;
const DIVIDEND_DISCOUNT: usize = <usize>BlackScholesColumn.dividendDiscount * COLUMN;
// Outputs that differ between call and put. In a pair, each output of the put is PUT bytes after that output of the call.
const PRICE: usize = <usize>BlackScholesColumn.price * COLUMN;
const DELTA: usize = <usize>BlackScholesColumn.delta * COLUMN;
const THETA: usize = <usize>BlackScholesColumn.theta * COLUMN;
const RHO: usize = <usize>BlackScholesColumn.rho * COLUMN;
const CHARM: usize = <usize>BlackScholesColumn.charm * COLUMN;
const PUT: usize = <usize>(BlackScholesColumn.putPrice - BlackScholesColumn.price) * COLUMN;
// Outputs that are the same for call and put.
const GAMMA: usize = <usize>BlackScholesColumn.gamma * COLUMN;
const VEGA: usize = <usize>BlackScholesColumn.vega * COLUMN;
const VANNA: usize = <usize>BlackScholesColumn.vanna * COLUMN;
const VOLGA: usize = <usize>BlackScholesColumn.volga * COLUMN;
// Columns of intermediate values.
const SCRATCH: usize = <usize>BlackScholesColumn.scratch * COLUMN;
/** The legs: S e^(-qT) and K e^(-rT). */
const SPOT_NOW: usize = SCRATCH;
const STRIKE_NOW: usize = SCRATCH + 1 * COLUMN;
/** sqrt(T). */
const ROOT_TIME: usize = SCRATCH + 2 * COLUMN;
const D1: usize = SCRATCH + 3 * COLUMN;
const D2: usize = SCRATCH + 4 * COLUMN;
/** 1 / s. */
const PER_DEVIATION: usize = SCRATCH + 5 * COLUMN;
/** The density term that both legs share: S e^(-qT) phi(d1) = K e^(-rT) phi(d2). */
const SHARED: usize = SCRATCH + 6 * COLUMN;
/** The smaller side of each leg: S e^(-qT) N(-|d1|) for spot, and K e^(-rT) N(-|d2|) for the strike. */
const SPOT_TAIL: usize = SCRATCH + 7 * COLUMN;
const STRIKE_TAIL: usize = SCRATCH + 8 * COLUMN;
// The following values use columns whose own values are not computed yet, or are no longer needed. RATE_EXPONENT, DIVIDEND_EXPONENT,
// SQUARE_EXPONENT and QUOTIENT take two columns each. These columns hold intermediate values of exponentials and of a logarithm. One pass
// computes the first half of an exponential or a logarithm, and a later pass the second half.
const RATE_EXPONENT: usize = D1;
const DIVIDEND_EXPONENT: usize = PER_DEVIATION;
const SQUARE_EXPONENT: usize = SPOT_TAIL;
const QUOTIENT: usize = D1;
const MONEYNESS: usize = D1;
const CHARM_DECAY: usize = ROOT_TIME;
const PER_SPOT: usize = PER_DEVIATION;
const THETA_DECAY: usize = SHARED;

/**
 * Computes the Black-Scholes-Merton price with continuous yield and its raw partial derivatives (Merton 1973; Haug, The Complete Guide to
 * Option Pricing Formulas, 2nd ed., chapter 2). For T = 0 or v = 0, the results are the intrinsic value and its derivatives. For T = 0 or v
 * = 0, the terms with the density are 0, and the delta exactly at the strike is half of its value in the money. If `discounted` is true,
 * the caller gives the discounts. The caller computes two exponentials per expiry, but the kernel would compute two exponentials per row.
 *
 * The price is the difference of two legs, S e^(-qT) N(d1) - K e^(-rT) N(d2). Both legs use one density, since S e^(-qT) phi(d1) = K
 * e^(-rT) phi(d2). So in the tails, both legs have the same relative error, caused by the density. The difference between the legs has no
 * larger relative error.
 *
 * The kernel has no branches and computes in passes over the rows. A processor looks about two hundred instructions ahead. So in a short
 * pass, the processor computes many rows at once. In a long pass, the processor would wait for dependent results of one row. Splitting each
 * exponential and logarithm into two halves saved a quarter of the whole time. The option `shrinkLevel` (asconfig.json) is 1. With 0, the
 * compiler would merge the passes into one function. A function loads its constants once, at its start, and those of all passes do not fit
 * into the registers. With 2, the compiler would leave the short functions of lanes.ts as calls. JavaScriptCore and new versions of V8
 * replace these calls by the instructions, but other engines do not, and take four times as long.
 */
export function blackScholes(count: i32, block: usize, discounted: bool): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    common(row, end, discounted);
    ownSide(row, end);
  }
}

/**
 * Computes the call and the put of each row, which share almost all of the work. Each result has the same bits as the result of
 * `blackScholes`.
 */
export function blackScholesPair(count: i32, block: usize, discounted: bool): void {
  for (let from = 0; from < count; from += STRIP) {
    const row = rowAt(block, from);
    const end = rowAt(block, min(from + STRIP, count));
    common(row, end, discounted);
    bothSides(row, end);
  }
}

/** Computes all values that call and put share. */
function common(row: usize, end: usize, discounted: bool): void {
  if (discounted) {
    applyDiscounts(row, end);
  } else {
    exponents(row, end);
    discounts(row, end);
  }
  quotients(row, end);
  moneyness(row, end);
  deviations(row, end);
  squares(row, end);
  densities(row, end);
  tails(row + D1, end + D1, SHARED - D1, SPOT_TAIL - D1);
  tails(row + D2, end + D2, SHARED - D2, STRIKE_TAIL - D2);
  symmetric(row, end);
}

/** Computes S e^(-qT) and K e^(-rT) from the discounts that the caller gives. */
function applyDiscounts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, mul(v128.load(row, STRIKE), v128.load(row, DISCOUNT)), STRIKE_NOW);
    v128.store(row, mul(v128.load(row, SPOT), v128.load(row, DIVIDEND_DISCOUNT)), SPOT_NOW);
  }
}

/** Computes the first halves of e^(-rT) and e^(-qT). */
function exponents(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const minusT = f64x2.neg(v128.load(row, TTE));
    Exponential.reduce(mul(v128.load(row, RATE), minusT), row, RATE_EXPONENT);
    Exponential.reduce(mul(v128.load(row, DIVIDEND), minusT), row, DIVIDEND_EXPONENT);
  }
}

/** Computes S e^(-qT) and K e^(-rT) from the results of `exponents`. */
function discounts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, mul(v128.load(row, STRIKE), Exponential.reduced(row, RATE_EXPONENT)), STRIKE_NOW);
    v128.store(row, mul(v128.load(row, SPOT), Exponential.reduced(row, DIVIDEND_EXPONENT)), SPOT_NOW);
  }
}

/** Computes the first half of ln(S / K). */
function quotients(row: usize, end: usize): void {
  for (; row < end; row += PAIR) Logarithm.reduce(v128.load(row, SPOT), v128.load(row, STRIKE), row, QUOTIENT);
}

/** Computes ln(F / K), where F is the forward, and the square root of T. */
function moneyness(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const T = v128.load(row, TTE);
    const carry = mul(sub(v128.load(row, RATE), v128.load(row, DIVIDEND)), T);
    v128.store(row, add(Logarithm.reduced(row, QUOTIENT), carry), MONEYNESS);
    v128.store(row, f64x2.sqrt(T), ROOT_TIME);
  }
}

/** Computes d1, d2 and 1 / s, where s = v sqrt(T). */
function deviations(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const s = mul(v128.load(row, IV), v128.load(row, ROOT_TIME));
    const perDeviation = div(one(), atLeast(s, DEVIATION_MIN));
    const middle = atMost(atLeast(mul(v128.load(row, MONEYNESS), perDeviation), -D_MAX), D_MAX);
    const halfDeviation = half(s);
    v128.store(row, add(middle, halfDeviation), D1);
    v128.store(row, sub(middle, halfDeviation), D2);
    v128.store(row, perDeviation, PER_DEVIATION);
  }
}

/** Computes the first half of e^(-d^2 / 2), where d is d1 or d2, whichever is nearer to 0. */
function squares(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const nearer = f64x2.pmin(magnitude(v128.load(row, D1)), magnitude(v128.load(row, D2)));
    Exponential.reduce(mul(times(-0.5, nearer), nearer), row, SQUARE_EXPONENT);
  }
}

/** Computes S e^(-qT) phi(d1) = K e^(-rT) phi(d2) from d1 or d2, whichever is nearer to 0. */
function densities(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const spotNearer = f64x2.lt(magnitude(v128.load(row, D1)), magnitude(v128.load(row, D2)));
    const value = choose(spotNearer, v128.load(row, SPOT_NOW), v128.load(row, STRIKE_NOW));
    v128.store(row, mul(times(INV_SQRT_2_PI, value), Exponential.reduced(row, SQUARE_EXPONENT)), SHARED);
  }
}

/**
 * Computes the smaller side of a leg, S e^(-qT) N(-|d1|) or K e^(-rT) N(-|d2|). `d` is the address of the first row's d1 or d2. `density`
 * and `tail` are the byte offsets of two columns from the column of `d`.
 */
function tails(d: usize, end: usize, density: usize, tail: usize): void {
  for (; d < end; d += PAIR) {
    v128.store(d + tail, mul(v128.load(d + density), Mills.ratio(magnitude(v128.load(d)))));
  }
}

/**
 * Computes the outputs that are the same for call and put, and the common terms of theta and charm. Does not divide by v or T. With s = v
 * sqrt(T), computes 1 / v as sqrt(T) / s, and 1 / T as (v / s)^2.
 */
function symmetric(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const v = v128.load(row, IV);
    const rootT = v128.load(row, ROOT_TIME);
    const d2 = v128.load(row, D2);
    const perDeviation = v128.load(row, PER_DEVIATION);
    const certain = f64x2.ge(perDeviation, f64x2.splat(1.0 / DEVIATION_MIN));
    const density = unless(certain, v128.load(row, SHARED));
    const densityPerDeviation = mul(density, perDeviation);
    const perSpot = div(one(), v128.load(row, SPOT));
    const vanna = mul(mul(densityPerDeviation, rootT), d2);
    const halfVariance = mul(half(v), v);
    const carry = sub(v128.load(row, RATE), v128.load(row, DIVIDEND));
    v128.store(row, mul(mul(densityPerDeviation, perSpot), perSpot), GAMMA);
    v128.store(row, mul(density, rootT), VEGA);
    v128.store(row, f64x2.neg(mul(vanna, perSpot)), VANNA);
    v128.store(row, mul(mul(vanna, v128.load(row, D1)), rootT), VOLGA);
    v128.store(row, mul(densityPerDeviation, sub(carry, mul(mul(halfVariance, perDeviation), d2))), CHARM_DECAY);
    v128.store(row, perSpot, PER_SPOT);
    v128.store(row, mul(densityPerDeviation, halfVariance), THETA_DECAY);
  }
}

/** Computes the remaining outputs of the side in the column `callPut`. */
function ownSide(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const zero = f64x2.splat(0.0);
    const sign = v128.load(row, CALL_PUT);
    const isPut = f64x2.lt(sign, zero);
    const spotTail = v128.load(row, SPOT_TAIL);
    const strikeTail = v128.load(row, STRIKE_TAIL);
    const spotRest = sub(v128.load(row, SPOT_NOW), spotTail);
    const strikeRest = sub(v128.load(row, STRIKE_NOW), strikeTail);
    const spotLeg = choose(v128.xor(isPut, f64x2.lt(v128.load(row, D1), zero)), spotTail, spotRest);
    const strikeLeg = choose(v128.xor(isPut, f64x2.lt(v128.load(row, D2), zero)), strikeTail, strikeRest);
    Side.greeks(row, mul(sign, spotLeg), mul(sign, strikeLeg), row);
  }
}

/** Computes the remaining outputs of the call and of the put. */
function bothSides(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const zero = f64x2.splat(0.0);
    const spotTail = v128.load(row, SPOT_TAIL);
    const strikeTail = v128.load(row, STRIKE_TAIL);
    const spotRest = sub(v128.load(row, SPOT_NOW), spotTail);
    const strikeRest = sub(v128.load(row, STRIKE_NOW), strikeTail);
    const spotLeg = choose(f64x2.lt(v128.load(row, D1), zero), spotTail, spotRest);
    const strikeLeg = choose(f64x2.lt(v128.load(row, D2), zero), strikeTail, strikeRest);
    Side.greeks(row, spotLeg, strikeLeg, row);
    // For each leg, either the call or the put has the tail, and the other option has the rest.
    const putSpotLeg = f64x2.neg(v128.xor(v128.xor(spotTail, spotRest), spotLeg));
    const putStrikeLeg = f64x2.neg(v128.xor(v128.xor(strikeTail, strikeRest), strikeLeg));
    Side.greeks(row, putSpotLeg, putStrikeLeg, row + PUT);
  }
}

class Side {
  /**
   * Computes price, delta, theta, rho and charm. For a call, `spotLeg` is S e^(-qT) N(d1), and `strikeLeg` is K e^(-rT) N(d2). For a put,
   * `spotLeg` is -S e^(-qT) N(-d1), and `strikeLeg` is -K e^(-rT) N(-d2).
   */
  @inline
  static greeks(row: usize, spotLeg: v128, strikeLeg: v128, out: usize): void {
    const spotCarry = mul(v128.load(row, DIVIDEND), spotLeg);
    const carry = sub(spotCarry, mul(v128.load(row, RATE), strikeLeg));
    const perSpot = v128.load(row, PER_SPOT);
    // Adding 0 turns -0 into 0.
    v128.store(out, add(atLeast(sub(spotLeg, strikeLeg), 0.0), f64x2.splat(0.0)), PRICE);
    v128.store(out, mul(spotLeg, perSpot), DELTA);
    v128.store(out, sub(carry, v128.load(row, THETA_DECAY)), THETA);
    v128.store(out, mul(strikeLeg, v128.load(row, TTE)), RHO);
    v128.store(out, mul(sub(spotCarry, v128.load(row, CHARM_DECAY)), perSpot), CHARM);
  }
}
