/** Reads columns of whole numbers that `ColumnWriter` of src/store/column-codec.ts has stored as planes of bytes. The numbers are exact. */
import { PAIR } from './block';
import { add, choose, div, mul, splat } from './lanes';

/**
 * Writes `count` numbers to `out`: (whole + base) / divisor, or `gap` for the whole number 0. Plane p, with bits 8p to 8p + 7 of each whole
 * number, is at planes + p * apart. Whole numbers are below 2^53. If `width` is 8, writes the bits of the whole number as those of a float64.
 * Up to three further rows are read and written.
 */
export function readWholes(
  count: i32,
  planes: usize,
  apart: usize,
  width: i32,
  base: f64,
  divisor: f64,
  gap: f64,
  out: usize,
): void {
  for (const end = planes + count; planes < end; planes += 4, out += 2 * PAIR) {
    let low = wordsAt(planes, apart, min(width, 4));
    let high = wordsAt(planes + 4 * apart, apart, width - 4);
    if (width === 8) {
      v128.store(out, v128.shuffle<i32>(low, high, 0, 4, 1, 5));
      v128.store(out, v128.shuffle<i32>(low, high, 2, 6, 3, 7), PAIR);
      continue;
    }
    for (let half: usize = 0; half < 2; half++) {
      const highs = mul(splat(4294967296.0), f64x2.convert_low_i32x4_u(high));
      const whole = add(f64x2.convert_low_i32x4_u(low), highs);
      const number = div(add(whole, splat(base)), splat(divisor));
      v128.store(out + half * PAIR, choose(f64x2.eq(whole, splat(0.0)), splat(gap), number));
      low = v128.shuffle<i64>(low, low, 1, 0);
      high = v128.shuffle<i64>(high, high, 1, 0);
    }
  }
}

/** Returns the u32 of four rows, whose lowest bytes are at `first`, and whose next bytes are in the next planes, at most four in all. */
function wordsAt(first: usize, apart: usize, width: i32): v128 {
  let words = i32x4.splat(0);
  for (let plane = 0; plane < width; plane++) {
    const bytes = i16x8.extend_low_i8x16_u(v128.load32_zero(first + plane * apart));
    words = v128.or(words, i32x4.shl(i32x4.extend_low_i16x8_u(bytes), 8 * plane));
  }
  return words;
}
