/**
 * Worst error found: e^x - 1 2.19 ulp, at x=0.37049402830504463.
 * The line above names the output, its largest error, and the input with this error. An ulp is a unit in the last place of the exact result.
 */
import { COLUMN } from './block';
import { add, atLeast, atMost, mul, step, sub, times } from './lanes';

export class Exponential {
  /**
   * Returns e^x in each lane, as 2^k e^r with |r| <= ln(2) / 2 (Cody and Waite, Software Manual for the Elementary Functions, 1980).
   * Returns NaN if x is NaN, Infinity if x is above 709.8, and 0 if x is below -708.7 (instead of a subnormal number). The error is below
   * 1.1 ulp. The relative error of the polynomial is 1.6e-17 (less than 0.15 ulp). Rounding causes the rest of the error.
   */
  @inline
  static of(x: v128): v128 {
    const bounded = atLeast(x, UNDERFLOW);
    const shifted = Exponential.shifted(bounded);
    return Exponential.combine(Exponential.remainder(bounded, shifted), Exponential.power(shifted));
  }

  /**
   * Computes the first half of `of`, so that another pass can compute the second half. Stores r at `row + place`, where `place` is the byte
   * offset of a column. Stores 2^k at `row + place + column`.
   */
  @inline
  static reduce(x: v128, row: usize, place: usize, column: usize = COLUMN): void {
    const bounded = atLeast(x, UNDERFLOW);
    const shifted = Exponential.shifted(bounded);
    v128.store(row + place, Exponential.remainder(bounded, shifted));
    v128.store(row + place + column, Exponential.power(shifted));
  }

  /** Computes the second half of `of`. Returns e^x, computed from the two values that `reduce` stored. */
  @inline
  static reduced(row: usize, place: usize, column: usize = COLUMN): v128 {
    return Exponential.combine(v128.load(row + place), v128.load(row + place + column));
  }

  /** Returns e^x - 1 for |x| < 709. The result keeps its digits near x = 0. The error is below 2.4 ulp. */
  @inline
  static minusOne(x: v128): v128 {
    const shifted = Exponential.shifted(x);
    const power = Exponential.power(shifted);
    const lessOne = Exponential.lessOne(Exponential.remainder(x, shifted));
    return add(sub(power, f64x2.splat(1.0)), mul(power, lessOne));
  }

  /**
   * Returns a number whose lowest bits are the exponent bits of 2^k. Adding 3 * 2^51 to x / ln 2 puts the nearest whole number k into the
   * lowest bits of the sum. Adding 1023 as well turns the lowest bits into the exponent bits of 2^k. The exponent bits are limited to the
   * range from 0 (the bits of the number 0) to 2046 (the bits of 2^1023). If x is beyond this range, |r| exceeds ln(2) / 2.
   */
  @inline
  static shifted(x: v128): v128 {
    return atMost(atLeast(step(x, f64x2.splat(PER_LN_2), SHIFT + 1023.0), SHIFT), SHIFT + 2046.0);
  }

  /** Returns 2^k. */
  @inline
  static power(shifted: v128): v128 {
    return i64x2.shl(shifted, 52);
  }

  /** Returns r = x - k ln 2. */
  @inline
  static remainder(x: v128, shifted: v128): v128 {
    const k = sub(shifted, f64x2.splat(SHIFT + 1023.0));
    return sub(sub(x, times(LN_2_HIGH, k)), times(LN_2_LOW, k));
  }

  /** Returns 2^k e^r. */
  @inline
  static combine(r: v128, power: v128): v128 {
    return add(power, mul(power, Exponential.lessOne(r)));
  }

  /** Returns e^r - 1 for |r| <= ln(2) / 2. */
  @inline
  static lessOne(r: v128): v128 {
    // In Estrin's scheme, few operations wait for each other.
    const rr = mul(r, r);
    const rrrr = mul(rr, rr);
    const e2 = step(f64x2.splat(E3), r, E2);
    const e4 = step(f64x2.splat(E5), r, E4);
    const e6 = step(f64x2.splat(E7), r, E6);
    const e8 = step(f64x2.splat(E9), r, E8);
    const e10 = step(f64x2.splat(E11), r, E10);
    const high = add(add(e6, mul(e8, rr)), mul(e10, rrrr));
    return add(r, mul(rr, add(add(e2, mul(e4, rr)), mul(high, rrrr))));
  }
}

/** The smallest x. A smaller x is replaced by this one, for which 2^k is already 0, and the polynomial is still finite. */
const UNDERFLOW: f64 = -750.0;
/** 3 * 2^51. */
const SHIFT: f64 = 6755399441055744.0;

// The constants come from scripts/coefficients.ts. ln 2 is the sum of LN_2_HIGH, which has 40 bits, and LN_2_LOW.
const PER_LN_2: f64 = 1.4426950408889634;
const LN_2_HIGH: f64 = 0.6931471805592082;
const LN_2_LOW: f64 = 7.371002565167799e-13;
const E2: f64 = 0.5000000000000001;
const E3: f64 = 0.16666666666666669;
const E4: f64 = 0.041666666666624164;
const E5: f64 = 0.008333333333330065;
const E6: f64 = 0.0013888888917196719;
const E7: f64 = 0.00019841269863040545;
const E8: f64 = 0.000024801521322368692;
const E9: f64 = 0.0000027557268480310024;
const E10: f64 = 2.7620075879983367e-7;
const E11: f64 = 2.5100375832561234e-8;
