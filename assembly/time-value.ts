import { COLUMN, PAIR } from './block';
import { Exponential } from './exp';
import { add, atMost, choose, div, magnitude, mul, one, sub, times } from './lanes';
import { Logarithm } from './log';
import { Rounding } from './rounding';
import {
  CALL_PUT,
  DIVIDEND,
  FIRST,
  LN_PART,
  LN_REST,
  MONEYNESS,
  MONEYNESS_LOW,
  PART,
  PRICE,
  RATE,
  SCRATCH,
  SECOND,
  SPOT,
  STATUS,
  STRIKE,
  TTE,
} from './volatility-columns';

// This file uses the notation of implied-volatility.ts. The legs are S e^(-qT) and K e^(-rT).

/** If x is below this bound, the legs are close, and the polynomial alone gives e^x - 1. */
const CLOSE: f64 = 0.34;
/** 2^64. */
const SCALE: f64 = 4294967296.0 * 4294967296.0;

/** Two columns with intermediate values of a logarithm. One pass computes the first half, and a later pass the second half. */
const THIRD: usize = SCRATCH + 13 * COLUMN;
const SPOT_NOW: usize = SCRATCH + 15 * COLUMN;
const STRIKE_NOW: usize = SCRATCH + 16 * COLUMN;
const QUOTIENT_ERROR: usize = SCRATCH + 17 * COLUMN;
const EXCESS: usize = QUOTIENT_ERROR;
const TIME_VALUE: usize = SCRATCH + 18 * COLUMN;
/** The smaller leg minus the time value. */
const REST: usize = SCRATCH + 19 * COLUMN;
/** The smaller leg. */
const LEAST: usize = SCRATCH + 20 * COLUMN;

/**
 * Computes the inputs of an implied volatility: x = |ln(F / K)|, part (the time value as a share of the smaller leg), ln(part) and
 * ln(rest), where rest = 1 - part. Also computes whether a volatility gives the price of each row.
 */
export function timeValues(row: usize, end: usize): void {
  exponents(row, end);
  presentValues(row, end);
  quotientErrors(row, end);
  moneyness(row, end);
  excesses(row, end);
  values(row, end);
  parts(row, end);
  logarithms(row, end);
}

/** Computes the first halves of e^(-rT), e^(-qT) and ln(S / K). */
function exponents(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const minusT = f64x2.neg(v128.load(row, TTE));
    Exponential.reduce(mul(v128.load(row, RATE), minusT), row, FIRST);
    Exponential.reduce(mul(v128.load(row, DIVIDEND), minusT), row, SECOND);
    Logarithm.reduce(v128.load(row, SPOT), v128.load(row, STRIKE), row, THIRD);
  }
}

/** Computes the legs, K e^(-rT) and S e^(-qT). */
function presentValues(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, mul(v128.load(row, STRIKE), Exponential.reduced(row, FIRST)), STRIKE_NOW);
    v128.store(row, mul(v128.load(row, SPOT), Exponential.reduced(row, SECOND)), SPOT_NOW);
  }
}

/** Computes the rounding error of 2 z, where z is the rounded quotient (S - K 2^k) / (S + K 2^k): twice the exact quotient minus 2 z. */
function quotientErrors(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const S = v128.load(row, SPOT);
    const K = v128.load(row, STRIKE);
    const KScaled = i64x2.add(K, Logarithm.kBits(S, K));
    const sum = add(S, KScaled);
    const added = sub(sum, S);
    const ofSum = add(sub(S, sub(sum, added)), sub(KScaled, added));
    const z = v128.load(row, THIRD);
    const product = mul(z, sum);
    const error = add(Rounding.ofProduct(z, sum, product), mul(z, ofSum));
    const lacking = div(sub(sub(sub(S, KScaled), product), error), sum);
    v128.store(row, add(lacking, lacking), QUOTIENT_ERROR);
  }
}

/** Computes ln(F / K), and the rounding error of ln(F / K). */
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
    const added = sub(x, log);
    const ofX = add(sub(log, sub(x, added)), sub(carry, added));
    v128.store(row, x, MONEYNESS);
    v128.store(row, add(ofX, add(sub(small, sub(log, ofPower)), sub(rest, sub(small, twice)))), MONEYNESS_LOW);
  }
}

/** Computes e^x - 1 for close legs. The result is the difference of the legs as a share of the smaller leg. */
function excesses(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const x = magnitude(v128.load(row, MONEYNESS));
    v128.store(row, Exponential.lessOne(atMost(x, CLOSE)), EXCESS);
  }
}

/** Computes for each row the time value, the smaller leg minus the time value, x, and the status. */
function values(row: usize, end: usize): void {
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
    // If the legs are close, `excess` has less rounding error than `difference`.
    const difference = f64x2.pmax(zero, sub(most, choose(isCall, strikeNow, spotNow)));
    const excess = v128.and(v128.xor(isCall, f64x2.lt(signed, zero)), mul(least, v128.load(row, EXCESS)));
    const intrinsic = choose(f64x2.lt(x, f64x2.splat(CLOSE)), excess, difference);
    const timeValue = sub(quoted, intrinsic);
    const upside = sub(most, quoted);
    const sign = v128.xor(signed, x);
    v128.store(row, x, MONEYNESS);
    v128.store(row, v128.xor(sign, v128.load(row, MONEYNESS_LOW)), MONEYNESS_LOW);
    // In exact arithmetic, `least - timeValue` and `upside` are equal. If the time value is less than half of the smaller leg, `least -
    // timeValue` is more accurate, because it does not have the rounding error of the larger leg.
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
    v128.store(row, choose(possible, choose(worthless, zero, one()), f64x2.splat(NaN)), STATUS);
  }
}

/** Computes part, and the first halves of ln(part) and ln(rest). */
function parts(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    const timeValue = v128.load(row, TIME_VALUE);
    const least = v128.load(row, LEAST);
    v128.store(row, div(timeValue, least), PART);
    // The numbers are multiplied by 2^64, because Logarithm does not accept subnormal numbers.
    const scaled = times(SCALE, least);
    Logarithm.reduce(times(SCALE, timeValue), scaled, row, FIRST);
    Logarithm.reduce(times(SCALE, v128.load(row, REST)), scaled, row, SECOND);
  }
}

/** Computes ln(part) and ln(rest). */
function logarithms(row: usize, end: usize): void {
  for (; row < end; row += PAIR) {
    v128.store(row, Logarithm.reduced(row, FIRST), LN_PART);
    v128.store(row, Logarithm.reduced(row, SECOND), LN_REST);
  }
}
