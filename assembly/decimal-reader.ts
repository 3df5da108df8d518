import { RowField } from './columns';
import { POWER_MAX, POWER_MIN, Wide } from './wide-product';

/** The powers of ten that are exact doubles. */
const EXACT: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);

/**
 * Reads JSON numbers, separated by commas, from the text [from, to) into a column. Returns the number of rows, or -1 for any other text, for
 * more than `rowsMax`, or if a number is not read. The byte after the text must not be a part of a number.
 */
export function readNumbers(from: usize, to: usize, powers: usize, column: usize, rowsMax: i32): i32 {
  let rows = 0;
  let at = from;
  while (rows < rowsMax) {
    at = readNumber(Json.afterSpaces(at), powers, column + ((<usize>rows) << 3));
    if (at === 0) return -1;
    rows++;
    at = Json.afterSpaces(at);
    if (at >= to) return at === to ? rows : -1;
    if (load<u8>(at++) !== 0x2c) return -1;
  }
  return -1;
}

/**
 * Reads the number of a cell in each row that `scanRows` has found, without spaces at its ends. The number is NaN if the row lacks the cell, or
 * if neither `shortNumber` nor `readNumber` can read its text.
 */
export function readColumn(count: i32, rows: usize, cell: i32, powers: usize, column: usize): void {
  for (let row = 0; row < count; row++) {
    const range = <usize>load<u32>(rows, RowField.cells * 4) + ((<usize>cell) << 3);
    rows += RowField.size * 4;
    store<f64>(column, NaN);
    if (range < <usize>load<u32>(rows, RowField.cells * 4)) {
      let from = <usize>load<u32>(range);
      let to = <usize>load<u32>(range, 4);
      while (from < to && load<u8>(from) === 0x20) from++;
      while (from < to && load<u8>(to - 1) === 0x20) to--;
      const value = shortNumber(from, to);
      if (abs(value) >= 0) store<f64>(column, value);
      else if (from < to && readNumber(from, powers, column) !== to) store<f64>(column, NaN);
    }
    column += 8;
  }
}

/** Returns the number in [from, to) if it has up to eight digits with a point, but no exponent. Returns NaN for any other text. */
function shortNumber(from: usize, to: usize): f64 {
  const sign = load<u8>(from);
  const start = from + <usize>(sign === 0x2d || sign === 0x2b);
  const size = to - start;
  if (size - 1 >= 8) return NaN;
  // The last byte is the highest one. Zeros before the digits do not count.
  const bytes = (load<u64>(start) ^ 0x3030303030303030) << (64 - 8 * <u64>size);
  const points = bytes ^ 0x1e1e1e1e1e1e1e1e;
  const point = ~(((points & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | points | 0x7f7f7f7f7f7f7f7f);
  let digits = bytes;
  let places: u64 = 0;
  if (point !== 0) {
    if (size === 1) return NaN;
    const at = <u64>ctz(point) - 7;
    places = 7 - (at >> 3);
    // The digits before the point move to its place.
    const below = ((<u64>1) << at) - 1;
    digits = ((bytes & below) << 8) | (bytes & ~((below << 8) | 0xff));
  }
  if (((digits + 0x7676767676767676) | digits) & 0x8080808080808080) return NaN;
  const value = <f64>Json.eightDigits(digits) / load<f64>(EXACT + ((<usize>places) << 3));
  return sign === 0x2d ? -value : value;
}

/**
 * Reads a JSON number to the address `out`. Returns the address after the number. Returns 0 for any other text, and for numbers that cannot be
 * read fast: numbers of more than 19 digits, subnormal and very large numbers, and numbers in the middle of two doubles.
 */
function readNumber(at: usize, powers: usize, out: usize): usize {
  const isNegative = load<u8>(at) === 0x2d;
  if (isNegative) at++;
  const digits = at;
  let w: u64 = 0;
  for (let digit = Json.digit(at); digit < 10; digit = Json.digit(++at)) w = w * 10 + digit;
  let count = at - digits;
  if (count === 0 || (count > 1 && load<u8>(digits) === 0x30)) return 0;
  let exponent: i32 = 0;
  if (load<u8>(at) === 0x2e) {
    const fraction = ++at;
    if (w === 0) {
      count = 0;
      while (load<u8>(at) === 0x30) at++;
    }
    const first = at;
    for (let digit = Json.digit(at); digit < 10; digit = Json.digit(++at)) w = w * 10 + digit;
    if (at === fraction) return 0;
    exponent = <i32>(fraction - at);
    count += at - first;
  }
  if (count > 19) return 0;
  if ((load<u8>(at) | 0x20) === 0x65) {
    const sign = load<u8>(++at);
    if (sign === 0x2d || sign === 0x2b) at++;
    const first = at;
    let size: i32 = 0;
    for (let digit = Json.digit(at); digit < 10; digit = Json.digit(++at)) size = size * 10 + <i32>digit;
    if (at === first || at - first > 4) return 0;
    exponent += sign === 0x2d ? -size : size;
  }
  let value: f64;
  if (w <= 1 << 53 && exponent >= -22 && exponent <= 22) {
    const power = load<f64>(EXACT + ((<usize>abs(exponent)) << 3));
    value = exponent < 0 ? <f64>w / power : <f64>w * power;
  } else {
    value = nearest(w, exponent, powers);
    if (!(value >= 0)) return 0;
  }
  store<f64>(out, isNegative ? -value : value);
  return at;
}

class Json {
  /** Returns the address of the next byte that is not white space. */
  @inline
  static afterSpaces(at: usize): usize {
    while (Json.isSpace(load<u8>(at))) at++;
    return at;
  }

  @inline
  static isSpace(byte: u32): bool {
    return byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  }

  /** Returns the digit at an address. The result is 10 or more if there is no digit. */
  @inline
  static digit(at: usize): u32 {
    return <u32>load<u8>(at) - 0x30;
  }

  /** Returns the number of eight bytes, the first byte first. Only the lower half of a byte counts. */
  @inline
  static eightDigits(bytes: u64): u64 {
    const ones = bytes & 0x0f0f0f0f0f0f0f0f;
    const tens = ones * 10 + (ones >> 8);
    const upper = (tens & 0x000000ff000000ff) * 0x000f424000000064;
    return (upper + ((tens >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
  }
}

/** Returns the double nearest to w * 10^e. Returns NaN if the double is not certain or not normal. */
function nearest(w: u64, e: i32, powers: usize): f64 {
  if (w === 0) return 0;
  if (e < POWER_MIN || e > POWER_MAX) return NaN;
  const leading = clz(w);
  const factor = w << leading;
  const power = Wide.powerAt(powers, e);
  const high = load<u64>(power);
  let rest = high * factor;
  let upper = Wide.highProduct(high, factor);
  // The lower half of the power adds less than 1, which rarely has an effect.
  if (((upper + 1) & 511) <= 1) {
    // The upper 128 bits of the product are too large by at most 1, because the power is rounded up.
    const carried = Wide.highProduct(load<u64>(power, 8), factor);
    rest += carried;
    upper += <u64>(rest < carried);
  } else rest = 2;
  const shift = 10 + (upper >> 63);
  const half = (<u64>1) << (shift - 1);
  const below = upper & (2 * half - 1);
  if (below === half && rest <= 1) return NaN;
  const biased = <i64>shift + 1 - <i64>leading + Wide.log2(e) + 52 + 1023;
  if (biased < 1 || biased > 2045) return NaN;
  const mantissa = (upper >> shift) + <u64>(below >= half);
  return reinterpret<f64>(((<u64>(biased - 1)) << 52) + mantissa);
}
