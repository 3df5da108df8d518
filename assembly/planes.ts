/** Reads columns of numbers that `ColumnWriter` of src/store/column-codec.ts has stored as planes of bytes. The numbers are exact. */

import { PAIR } from './block';
import { add, choose, div, mul, splat } from './lanes';

/**
 * Writes `count` numbers to `out`. Plane p, with bits 8p to 8p + 7 of each whole number, is at planes + p * apart. A number is (whole +
 * base) / divisor. If `hasGaps` is true, the whole number 0 is NaN. Whole numbers are below 2^53. Up to three further rows are read and
 * written.
 */
export function readWholes(
  count: i32,
  planes: usize,
  apart: usize,
  width: i32,
  base: f64,
  divisor: f64,
  hasGaps: bool,
  out: usize,
): void {
  const gap = hasGaps ? NaN : base / divisor;
  for (const end = planes + count; planes < end; planes += 4, out += 2 * PAIR) {
    let low = Planes.words(planes, apart, min(width, 4));
    let high = Planes.words(planes + 4 * apart, apart, width - 4);
    for (let at = out; ; at += PAIR) {
      const lowest = f64x2.convert_low_i32x4_u(low);
      const whole = add(lowest, mul(splat(4294967296.0), f64x2.convert_low_i32x4_u(high)));
      const number = div(add(whole, splat(base)), splat(divisor));
      v128.store(at, choose(f64x2.eq(whole, splat(0.0)), splat(gap), number));
      if (at > out) break;
      low = v128.shuffle<i64>(low, low, 1, 0);
      high = v128.shuffle<i64>(high, high, 1, 0);
    }
  }
}

/** Writes `count` float64 to `out`, whose eight bytes are in planes. Up to three further rows are read and written. */
export function readFloats(count: i32, planes: usize, apart: usize, out: usize): void {
  for (const end = planes + count; planes < end; planes += 4, out += 2 * PAIR) {
    const low = Planes.words(planes, apart, 4);
    const high = Planes.words(planes + 4 * apart, apart, 4);
    v128.store(out, v128.shuffle<i32>(low, high, 0, 4, 1, 5));
    v128.store(out, v128.shuffle<i32>(low, high, 2, 6, 3, 7), PAIR);
  }
}

/**
 * Writes to `out`, for each of `count` rows, the next number at `calls` if the row's callPut is positive, and else the next at `others`.
 * Returns how many numbers of `calls` it has written.
 */
export function mergeSides(count: i32, callPut: usize, calls: usize, others: usize, out: usize): i32 {
  const first = calls;
  for (const end = out + ((<usize>count) << 3); out < end; out += 8, callPut += 8) {
    const isCall = load<f64>(callPut) > 0;
    store<f64>(out, load<f64>(isCall ? calls : others));
    if (isCall) calls += 8;
    else others += 8;
  }
  return <i32>((calls - first) >> 3);
}

class Planes {
  /** Returns the u32 of four rows, whose lowest bytes are at `first`, and whose next bytes are in the next planes, at most four in all. */
  @inline
  static words(first: usize, apart: usize, width: i32): v128 {
    let words = i32x4.splat(0);
    for (let plane = 0; plane < width; plane++) {
      const bytes = v128.load32_zero(first + plane * apart);
      const wide = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes));
      words = v128.or(words, i32x4.shl(wide, 8 * plane));
    }
    return words;
  }
}
