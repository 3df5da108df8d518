import { add, atMost, mul, step, sub, times, unless } from './lanes';

export class Exponential {
  /**
   * e^x in each lane: 2^k e^r with |r| <= ln(2) / 2 (Cody and Waite, Software Manual for the Elementary Functions, 1980). 0 below
   * -708, where subnormals begin, Infinity above 709.4, NaN for NaN. Error below 1.1 ulp: the polynomial's is 1.6e-17, the rest
   * is rounding.
   */
  @inline
  static of(x: v128): v128 {
    const shifted = Exponential.shifted(x);
    const result = mul(Exponential.power(shifted), add(f64x2.splat(1.0), Exponential.lessOne(x, shifted)));
    return unless(f64x2.lt(x, f64x2.splat(UNDERFLOW)), result);
  }

  /** e^x - 1 for |x| < 709, without loss near 0: error below 2.4 ulp. */
  @inline
  static minusOne(x: v128): v128 {
    const shifted = Exponential.shifted(x);
    const power = Exponential.power(shifted);
    return add(sub(power, f64x2.splat(1.0)), mul(power, Exponential.lessOne(x, shifted)));
  }

  /** Adding 3 * 2^51 leaves the nearest whole number k to x / ln 2 in the lowest bits; 1023 besides makes those the bits of 2^k. */
  @inline
  static shifted(x: v128): v128 {
    return step(atMost(x, OVERFLOW), f64x2.splat(PER_LN_2), SHIFT);
  }

  @inline
  static power(shifted: v128): v128 {
    return i64x2.shl(shifted, 52);
  }

  /** e^r - 1 for r = x - k ln 2. */
  @inline
  static lessOne(x: v128, shifted: v128): v128 {
    const k = sub(shifted, f64x2.splat(SHIFT));
    const r = sub(sub(atMost(x, OVERFLOW), times(LN_2_HIGH, k)), times(LN_2_LOW, k));
    // Estrin's scheme: as few steps one after the other as can be.
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

const UNDERFLOW: f64 = -708.0;
const OVERFLOW: f64 = 710.0;
const SHIFT: f64 = 6755399441055744.0 + 1023.0;

// From test/fixtures/coefficients.ts; ln 2 in two parts, the first of 40 bits.
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
