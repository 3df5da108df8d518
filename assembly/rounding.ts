import { add, mul, sub, times } from './lanes';

/** 2^27 + 1 (Veltkamp 1968). Multiplying by this number separates the upper half of a number's bits. */
const SPLITTER: f64 = 134217729.0;

export class Rounding {
  /** Returns the rounding error of a product: the exact a * b minus `product` (Dekker 1971). */
  @inline
  static ofProduct(a: v128, b: v128, product: v128): v128 {
    const upperA = Rounding.upperHalf(a);
    const upperB = Rounding.upperHalf(b);
    const lowerA = sub(a, upperA);
    const lowerB = sub(b, upperB);
    const cross = add(mul(upperA, lowerB), mul(lowerA, upperB));
    return add(add(sub(mul(upperA, upperB), product), cross), mul(lowerA, lowerB));
  }

  /** Returns x, rounded to the upper half of its bits. */
  @inline
  static upperHalf(x: v128): v128 {
    const spread = times(SPLITTER, x);
    return sub(spread, sub(spread, x));
  }
}
