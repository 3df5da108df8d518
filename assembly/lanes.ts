/** Arithmetic on two doubles at once, one in each lane: short names for f64x2. Lanes never mix. */

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

/*
 * JavaScriptCore builds a constant whose bits are a single run of ones (1, 1/2, 2, all but the sign) anew at each use, in four
 * instructions on the units that multiply. So these constants are loaded from memory instead.
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

/** |x|. */
export function magnitude(x: v128): v128 {
  return v128.and(x, v128.load(NOT_SIGN));
}

/** c * x. */
export function times(c: f64, x: v128): v128 {
  return f64x2.mul(f64x2.splat(c), x);
}

/** p * x + c: one step of Horner's scheme. */
export function step(p: v128, x: v128, c: f64): v128 {
  return f64x2.add(f64x2.mul(p, x), f64x2.splat(c));
}

/** The lesser; NaN where `x` is NaN. One instruction, unlike f64x2.min. */
export function atMost(x: v128, bound: f64): v128 {
  return f64x2.pmin(x, f64x2.splat(bound));
}

/** The greater; NaN where `x` is NaN. */
export function atLeast(x: v128, bound: f64): v128 {
  return f64x2.pmax(x, f64x2.splat(bound));
}

/** `a` where the mask is set, `b` elsewhere. */
export function choose(mask: v128, a: v128, b: v128): v128 {
  return v128.bitselect(a, b, mask);
}

/** 0 where the mask is set, `x` elsewhere. */
export function unless(mask: v128, x: v128): v128 {
  return v128.andnot(x, mask);
}
