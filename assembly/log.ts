/** Worst error found: ln(a / b) 1.84 ulp, at a=2.399138761876387, b=1.8714112728282872. */
import { COLUMN } from './block';
import { add, div, mul, step, sub, times } from './lanes';

export class Logarithm {
  /**
   * ln(a / b) in each lane, for normal doubles > 0: k ln 2 + 2 atanh((a - b 2^k) / (a + b 2^k)). k is chosen so that a and b 2^k are within
   * half of each other. Their difference is then exact (Sterbenz 1974), so the error stays below 1.9 ulp also near a = b, where otherwise
   * only the rounding of the quotient would be left. NaN if a or b is negative or NaN.
   */
  @inline
  static ofRatio(a: v128, b: v128): v128 {
    const powers = Logarithm.powers(a, b);
    return Logarithm.scaled(Logarithm.quotient(a, b, powers), Logarithm.exponent(a, b, powers));
  }

  /**
   * The first half of `ofRatio`, for a separate pass. Stores the quotient in the column at `place` of the row, and k in the column after
   * it.
   */
  @inline
  static reduce(a: v128, b: v128, row: usize, place: usize): void {
    const powers = Logarithm.powers(a, b);
    v128.store(row + place, Logarithm.quotient(a, b, powers));
    v128.store(row + place, Logarithm.exponent(a, b, powers), COLUMN);
  }

  /** The second half of `ofRatio`: ln(a / b) from what `reduce` stored. */
  @inline
  static reduced(row: usize, place: usize): v128 {
    return Logarithm.scaled(v128.load(row + place), v128.load(row + place, COLUMN));
  }

  /**
   * k, in the place of a double's exponent. The bits of a double, read as a whole number, grow like its logarithm, and linearly between
   * powers of two (Mitchell 1962). The difference of two such numbers, rounded to whole powers, leaves a ratio from 2/3 to 3/2.
   */
  @inline
  static powers(a: v128, b: v128): v128 {
    return v128.and(i64x2.add(i64x2.sub(a, b), i64x2.splat(HALF_POWER)), i64x2.splat(WHOLE_POWERS));
  }

  /** (a - b 2^k) / (a + b 2^k). */
  @inline
  static quotient(a: v128, b: v128, powers: v128): v128 {
    const scaled = i64x2.add(b, powers);
    return div(sub(a, scaled), add(a, scaled));
  }

  @inline
  static exponent(a: v128, b: v128, powers: v128): v128 {
    const k = sub(
      v128.or(i64x2.shr_u(i64x2.add(powers, i64x2.splat(BIAS_BITS)), 52), f64x2.splat(TWO_TO_52)),
      f64x2.splat(TWO_TO_52 + BIAS),
    );
    // The bits above are ordinary numbers even if a or b is NaN or negative, so these lanes are set to NaN here.
    const unknown = v128.or(f64x2.lt(f64x2.pmin(a, b), f64x2.splat(0.0)), f64x2.ne(b, b));
    return v128.or(k, unknown);
  }

  /** k ln 2 + 2 atanh(z). */
  @inline
  static scaled(z: v128, k: v128): v128 {
    return add(Logarithm.ofPower(k), add(add(z, z), Logarithm.rest(z, k)));
  }

  /** k ln 2 without the lowest bits of ln 2: exact. */
  @inline
  static ofPower(k: v128): v128 {
    return times(LN_2_HIGH, k);
  }

  /** k ln 2 + 2 atanh(z) minus (`ofPower(k)` + 2 z). */
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
const BIAS: f64 = 2047.0;
const BIAS_BITS: i64 = 2047 << 52;
const TWO_TO_52: f64 = 4503599627370496.0;

// From scripts/coefficients.ts; ln 2 in two parts, the first of 40 bits.
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
