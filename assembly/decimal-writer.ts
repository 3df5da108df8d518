import { COLUMN } from './block';
import { RowField, RowItem } from './columns';
import { Wide } from './wide-product';

const TEN_8: u64 = 100000000;
const TEN_16: u64 = 10000000000000000;
/** Ten as a multiple of 2^-60. */
const TEN_UNITS: u64 = 10 << 60;
/** An upper bound of the errors of the comparisons, as a multiple of 2^-60. */
const MARGIN: u64 = 1 << 31;
/** The powers of ten from 10^0 to 10^17. */
const TENS: usize = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
]);
/** Constants of all lanes. JavaScriptCore would compute them again at each use. */
const ZEROS: usize = memory.data<u8>([48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48], 16);
const POINTS: usize = memory.data<u8>([46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46], 16);
const LANES: usize = memory.data<u8>([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 16);
const BY_100: usize = memory.data<u32>([5243, 5243, 5243, 5243], 16);
const HUNDREDS: usize = memory.data<u32>([100, 100, 100, 100], 16);
const BY_10: usize = memory.data<u16>([103, 103, 103, 103, 103, 103, 103, 103], 16);
const TENTHS: usize = memory.data<u16>([10, 10, 10, 10, 10, 10, 10, 10], 16);

/** Writes a number without its sign, if the shortest text or the rounding is not certain here. Returns the end of the text. */
// @ts-expect-error: decorator
declare function writeRare(value: f64, digits: i32, out: usize): usize;

/**
 * Writes finite numbers as JavaScript writes them, separated by commas, and `null` for others. `digits` is 17 for the shortest text that gives
 * the same double, or 1 to 15 significant digits. Returns the end of the text. A number takes at most 25 bytes with its comma.
 */
export function writeNumbers(count: i32, values: usize, digits: i32, powers: usize, out: usize): usize {
  for (let i = 0; i < count; i++) {
    if (i > 0) store<u8>(out++, 0x2c);
    const end = Decimal.write(load<f64>(values + ((<usize>i) << 3)), digits, powers, out);
    if (end === out) store<u32>(out, 0x6c6c756e);
    out = end === out ? out + 4 : end;
  }
  return out;
}

/** Writes rows that `scanRows` has found. See `addRows` in src/math/decimals.ts. Returns the end of the text. */
export function writeRows(
  count: i32,
  rows: usize,
  pattern: usize,
  items: i32,
  columns: usize,
  powers: usize,
  out: usize,
): usize {
  const end = pattern + ((<usize>items) << 2);
  for (let row = 0; row < count; row++) {
    const cells = <usize>load<u32>(rows, RowField.cells * 4);
    for (let at = pattern; at < end; at += 4) {
      const item = load<i32>(at);
      if (item === RowItem.separator) store<u8>(out++, 0x2c);
      else if (item === RowItem.copied) {
        const from = <usize>load<u32>(cells + ((<usize>load<i32>(at, 4)) << 2));
        const length = <usize>load<u32>(cells + ((<usize>load<i32>(at, 8)) << 2)) - from;
        at += 8;
        // Up to 15 bytes after the end are copied too. The next item replaces them.
        for (let j: usize = 0; j < length; j += 16) v128.store(out + j, v128.load(from + j));
        out += length;
      } else {
        const value = load<f64>(columns + <usize>item * COLUMN + ((<usize>row) << 3));
        out = Decimal.write(value, 17, powers, out);
      }
    }
    store<u8>(out++, 0x0a);
    rows += RowField.size * 4;
  }
  return out;
}

function writeExponent(exponent: i32, out: usize): usize {
  store<u8>(out, 0x65);
  store<u8>(out, exponent < 0 ? 0x2d : 0x2b, 1);
  out += 2;
  const size = abs(exponent);
  if (size >= 100) store<u8>(out++, 0x30 + size / 100);
  if (size >= 10) store<u8>(out++, 0x30 + ((size / 10) % 10));
  store<u8>(out, 0x30 + (size % 10));
  return out + 1;
}

/** The functions that are inlined. */
class Decimal {
  /**
   * Writes a finite number. A whole number keeps all its digits. Fewer digits are rounded half up, exactly. The shortest digits follow from the
   * distance to the next doubles, as in Schubfach (Giulietti 2020).
   */
  @inline
  static write(value: f64, digits: i32, powers: usize, out: usize): usize {
    const bits = reinterpret<u64>(value);
    const biased = <i32>(bits >> 52) & 0x7ff;
    const fraction = bits & 0xfffffffffffff;
    if (biased === 0x7ff) return out;
    if (bits << 1 === 0) {
      store<u8>(out, 0x30);
      return out + 1;
    }
    // The sign of a random number would make a branch slow.
    store<u8>(out, 0x2d);
    out += <usize>(bits >> 63);
    if (biased === 0) return writeRare(value, digits, out);
    // The value is c * 2^q.
    const c = fraction | (1 << 52);
    const q = biased - 1075;
    const k = (q * 1262611) >> 22;
    const h = q + Wide.log2(-k) + 1;
    const power = Wide.powerAt(powers, -k);
    const high = load<u64>(power);
    const factor = c << (<u64>h);
    // The value is x * 10^k. The whole part of x has 16 or 17 digits. The fraction is below the exact one by less than 2^33.
    const carried = (load<u64>(power, 8) >> 32) * (factor >> 32);
    const part = high * factor + carried;
    const whole = Wide.highProduct(high, factor) + <u64>(part < carried);
    let s: u64;
    if (digits < 16 && floor(value) !== value) {
      const unit = load<u64>(TENS + ((<usize>((whole >= TEN_16 ? 17 : 16) - digits)) << 3));
      s = whole / unit;
      const twice = 2 * (whole - s * unit) + (part >> 63);
      if (twice + 1 === unit) return writeRare(value, digits, out);
      s = (s + <u64>(twice >= unit)) * unit;
    } else {
      // The last digit and the fraction of x, and half of the distance to the next double, as multiples of 2^-60.
      const digit = (((whole * 0x199999999999999a) >> 32) * 10) >> 32;
      const end = (digit << 60) | (part >> 4);
      const half = high >> <u64>(5 - h);
      // Below a power of two, the next double is closer.
      const isPower = <u64>(fraction === 0);
      const below = half >> isPower;
      const toTen = TEN_UNITS - end;
      // The comparisons are not certain if two numbers are too close.
      const isRare = isPower & <u64>(part >> 4 > below);
      if (
        <i32>isRare |
        Decimal.isClose(end, below) |
        Decimal.isClose(toTen, half) |
        Decimal.isClose(part >> 4, 1 << 59)
      )
        return writeRare(value, digits, out);
      // The comparisons are random, so branches would be slow.
      const ten = select(whole - digit + 10, whole + (part >> 63), toTen < half);
      s = select(whole - digit, ten, end < below);
    }
    return Decimal.writeDigits(s, k, out);
  }

  @inline
  static isClose(a: u64, b: u64): i32 {
    return <i32>(a - b + MARGIN <= 2 * MARGIN);
  }

  /** Writes s * 10^k, where s has 16 or 17 digits. */
  @inline
  static writeDigits(s: u64, k: i32, out: usize): usize {
    const isLong = s >= TEN_16;
    const top = Wide.highProduct(s, 0xabcc77118461cefd) >> 26;
    const first = (top * 1441151881) >> 57;
    const digits = Decimal.sixteenDigits(top - first * TEN_8, s - top * TEN_8);
    const text = v128.or(digits, v128.load(ZEROS));
    const isZero = i8x16.bitmask(i8x16.eq(digits, i64x2.splat(0)));
    // The number of digits up to the last that is not 0. The first of 17 digits is not one of the 16.
    const lead = <i32>isLong;
    const count = 32 - clz(isZero ^ 0xffff) + lead;
    // The number is 0.DIGITS * 10^point.
    const point = k + 16 + lead;
    if (point > 0 && point <= 21) {
      store<u8>(out, 0x30 + first);
      if (count <= point) {
        v128.store(out + lead, text);
        store<u64>(out + lead, 0x3030303030303030, 16);
        return out + point;
      }
      // The digits from the lane `before` on move to the next byte.
      const before = i8x16.splat(<i8>(point - lead));
      const lanes = v128.load(LANES);
      const isAfter = i8x16.gt_s(lanes, before);
      const moved = i8x16.swizzle(text, i8x16.add(lanes, isAfter));
      const isPoint = i8x16.eq(lanes, before);
      store<u8>(out + lead, i8x16.extract_lane_u(text, 15), 16);
      v128.store(out + lead, v128.bitselect(v128.load(POINTS), moved, isPoint));
      return out + count + 1;
    }
    if (point > -6 && point <= 0) {
      store<u64>(out, 0x3030303030302e30);
      out += 2 - point;
      store<u8>(out, 0x30 + first);
      v128.store(out + lead, text);
      return out + count;
    }
    store<u8>(out, 0x30 + first, 1);
    v128.store(out + 1 + lead, text);
    store<u8>(out, load<u8>(out, 1));
    store<u8>(out, 0x2e, 1);
    return writeExponent(point - 1, count > 1 ? out + count + 1 : out + 1);
  }

  /** Returns the digits of two numbers below 10^8, one in each byte. */
  @inline
  static sixteenDigits(upper: u64, lower: u64): v128 {
    const upperFour = (upper * 3518437209) >> 45;
    const lowerFour = (lower * 3518437209) >> 45;
    const fours = i64x2.replace_lane(
      i64x2.splat(upperFour | ((upper - upperFour * 10000) << 32)),
      1,
      lowerFour | ((lower - lowerFour * 10000) << 32),
    );
    const hundreds = i32x4.shr_u(i32x4.dot_i16x8_s(fours, v128.load(BY_100)), 19);
    const twos = v128.or(hundreds, i32x4.shl(i16x8.sub(fours, i16x8.mul(hundreds, v128.load(HUNDREDS))), 16));
    const tens = i16x8.shr_u(i16x8.mul(twos, v128.load(BY_10)), 10);
    return v128.or(tens, i16x8.shl(i16x8.sub(twos, i16x8.mul(tens, v128.load(TENTHS))), 8));
  }
}
