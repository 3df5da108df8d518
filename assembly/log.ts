/**
 * Worst error found: ln(a / b) 1.84 ulp, at a=2.399138761876387, b=1.8714112728282872.
 * An ulp is a unit in the last place of the exact result.
 */
import { COLUMN } from './block';
import { add, div, mul, step, sub, times } from './lanes';

export class Logarithm {
  /**
   * Returns ln(a / b) in each lane, for normal doubles > 0, as k ln 2 + 2 atanh((a - b 2^k) / (a + b 2^k)). The whole number k is such that
   * a / (b 2^k) is from 2/3 to 3/2. The difference a - b 2^k is then exact (Sterbenz 1974). So the error is below 1.9 ulp for all a and b.
   * If a / b were computed first, its rounding error would dominate the result near a = b. Returns NaN if a or b is negative or NaN.
   */
  @inline
  static ofRatio(a: v128, b: v128): v128 {
    const kBits = Logarithm.kBits(a, b);
    return Logarithm.combine(Logarithm.quotient(a, b, kBits), Logarithm.exponent(a, b, kBits));
  }

  /**
   * Computes the first half of `ofRatio`, so that another pass can compute the second half. Stores the quotient at `row + place`, and k in
   * the next column. `place` is the byte offset of a column.
   */
  @inline
  static reduce(a: v128, b: v128, row: usize, place: usize): void {
    const kBits = Logarithm.kBits(a, b);
    v128.store(row + place, Logarithm.quotient(a, b, kBits));
    v128.store(row + place, Logarithm.exponent(a, b, kBits), COLUMN);
  }

  /** Computes the second half of `ofRatio`. Returns ln(a / b), computed from the two values that `reduce` stored. */
  @inline
  static reduced(row: usize, place: usize): v128 {
    return Logarithm.combine(v128.load(row + place), v128.load(row + place, COLUMN));
  }

  /**
   * Returns k shifted left by 52 bits. Adding the result to the bits of b multiplies b by 2^k. The bits of a double, read as a whole
   * number, grow with the double's logarithm, and linearly between two powers of two (Mitchell 1962). The bits of a minus the bits of b are
   * rounded to a multiple of 2^52. For the resulting k, a / (b 2^k) is from 2/3 to 3/2.
   */
  @inline
  static kBits(a: v128, b: v128): v128 {
    return v128.and(i64x2.add(i64x2.sub(a, b), i64x2.splat(HALF_POWER)), i64x2.splat(WHOLE_POWERS));
  }

  /** Returns (a - b 2^k) / (a + b 2^k). */
  @inline
  static quotient(a: v128, b: v128, kBits: v128): v128 {
    const bScaled = i64x2.add(b, kBits);
    return div(sub(a, bScaled), add(a, bScaled));
  }

  /** Returns k as a double. Returns NaN if a or b is negative or b is NaN. */
  @inline
  static exponent(a: v128, b: v128, kBits: v128): v128 {
    const k = sub(
      v128.or(i64x2.shr_u(i64x2.add(kBits, i64x2.splat(EXPONENT_OFFSET_BITS)), 52), f64x2.splat(TWO_TO_52)),
      f64x2.splat(TWO_TO_52 + EXPONENT_OFFSET),
    );
    // If a or b is negative or b is NaN, k looks like an ordinary number. So such lanes are set to NaN. If a is NaN, the quotient is NaN.
    const unknown = v128.or(f64x2.lt(f64x2.pmin(a, b), f64x2.splat(0.0)), f64x2.ne(b, b));
    return v128.or(k, unknown);
  }

  /** Returns k ln 2 + 2 atanh(z). */
  @inline
  static combine(z: v128, k: v128): v128 {
    return add(Logarithm.ofPower(k), add(add(z, z), Logarithm.rest(z, k)));
  }

  /** Returns k times the highest 40 bits of ln 2. The product is exact, because k has at most 11 bits. */
  @inline
  static ofPower(k: v128): v128 {
    return times(LN_2_HIGH, k);
  }

  /** Returns k ln 2 + 2 atanh(z) - (`ofPower(k)` + 2 z). */
  @inline
  static rest(z: v128, k: v128): v128 {
    const w = mul(z, z);
    const ww = mul(w, w);
    let odd = step(f64x2.splat(L8), ww, L6);
    let even = step(f64x2.splat(L7), ww, L5);
    odd = step(odd, ww, L4);
    even = step(even, ww, L3);
    odd = step(odd, ww, L2);
    even = step(even, ww, L1);
    return add(times(LN_2_LOW, k), mul(mul(z, w), add(even, mul(odd, w))));
  }
}

const HALF_POWER: i64 = 1 << 51;
const WHOLE_POWERS: i64 = -(1 << 52);
/** This number is added to k, so that the sum is positive. */
const EXPONENT_OFFSET: f64 = 2047.0;
const EXPONENT_OFFSET_BITS: i64 = 2047 << 52;
const TWO_TO_52: f64 = 4503599627370496.0;

// The constants come from scripts/coefficients.ts. ln 2 is the sum of LN_2_HIGH, which has 40 bits, and LN_2_LOW.
const LN_2_HIGH: f64 = 0.6931471805592082;
const LN_2_LOW: f64 = 7.371002565167799e-13;
const L1: f64 = 0.6666666666666666;
const L2: f64 = 0.400000000000078;
const L3: f64 = 0.2857142856733919;
const L4: f64 = 0.22222223037807243;
const L5: f64 = 0.18181738454723026;
const L6: f64 = 0.15388834677801916;
const L7: f64 = 0.1321036048513262;
const L8: f64 = 0.13604015707124079;
