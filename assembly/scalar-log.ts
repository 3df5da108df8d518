export function logRatio(a: f64, b: f64): f64 {
  return a >= 0.5 * b && a <= 2.0 * b ? Math.log1p((a - b) / b) : Math.log(a / b);
}
