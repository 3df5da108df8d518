/** Short names for f64x2, which computes with two doubles at once. Each double is in its own lane, and no function mixes the lanes. */

export function splat(x: f64): v128 {
  return f64x2.splat(x);
}

export function add(a: v128, b: v128): v128 {
  return f64x2.add(a, b);
}

export function sub(a: v128, b: v128): v128 {
  return f64x2.sub(a, b);
}

export function mul(a: v128, b: v128): v128 {
  return f64x2.mul(a, b);
}

export function div(a: v128, b: v128): v128 {
  return f64x2.div(a, b);
}

/**
 * JavaScriptCore computes some constants again at each use. The bits of these constants are a single run of ones (1, 1/2, 2, and the mask
 * of all bits but the sign). Computing such a constant takes four instructions on the units that multiply. So the kernels load these
 * constants from memory.
 */
const ONE: usize = memory.data<f64>([1.0, 1.0], 16);
const HALF: usize = memory.data<f64>([0.5, 0.5], 16);
const NOT_SIGN: usize = memory.data<i64>([i64.MAX_VALUE, i64.MAX_VALUE], 16);

export function one(): v128 {
  return v128.load(ONE);
}

export function half(x: v128): v128 {
  return f64x2.mul(x, v128.load(HALF));
}

/** Returns |x|. */
export function magnitude(x: v128): v128 {
  return v128.and(x, v128.load(NOT_SIGN));
}

/** Returns c * x. */
export function times(c: f64, x: v128): v128 {
  return f64x2.mul(f64x2.splat(c), x);
}

/** Returns p * x + c, one step of Horner's scheme. */
export function step(p: v128, x: v128, c: f64): v128 {
  return f64x2.add(f64x2.mul(p, x), f64x2.splat(c));
}

/** Returns the smaller of `x` and `bound`, or NaN if `x` is NaN. Unlike f64x2.min, this operation is one instruction. */
export function atMost(x: v128, bound: f64): v128 {
  return f64x2.pmin(x, f64x2.splat(bound));
}

/** Returns the greater of `x` and `bound`, or NaN if `x` is NaN. */
export function atLeast(x: v128, bound: f64): v128 {
  return f64x2.pmax(x, f64x2.splat(bound));
}

/** Returns `a` in lanes where the mask is set, and `b` in all other lanes. */
export function choose(mask: v128, a: v128, b: v128): v128 {
  return v128.bitselect(a, b, mask);
}

/** Returns 0 in lanes where the mask is set, and `x` in all other lanes. */
export function unless(mask: v128, x: v128): v128 {
  return v128.andnot(x, mask);
}
