/**
 * ln(a / b) for a, b > 0 to about 1 ulp, also near a = b, where the quotient's rounding would be all that is left: between half
 * and double, a - b is exact (Sterbenz 1974) and ln(a / b) = log1p((a - b) / b).
 */
export function logRatio(a: f64, b: f64): f64 {
  return a >= 0.5 * b && a <= 2.0 * b ? Math.log1p((a - b) / b) : Math.log(a / b);
}
