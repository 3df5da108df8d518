import { POWER_MAX, POWER_MIN, Wide } from './wide-product';

/** The powers of ten that are exact doubles. */
const EXACT: usize = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]);

/**
 * Reads JSON numbers that are separated by commas from the text [from, to) into a column. Returns the number of rows. Returns -1 if there are
 * more than `rowsMax`, if the text has anything else, or if a number is not read (see `readNumber`). The byte after the text must not be a
 * part of a number.
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
 * Reads the number of a cell in each row into a column. `cells` has the start and the end of each cell, i32, at a distance of `stride` bytes.
 * `base` is added to them. The number is NaN if the cell has anything but one number, or if the number is not read (see `readNumber`).
 */
export function readCells(rows: i32, cells: usize, stride: usize, base: usize, powers: usize, column: usize): void {
  for (let row = 0; row < rows; row++) {
    const to = base + load<i32>(cells, 4);
    if (readNumber(base + load<i32>(cells), powers, column) !== to) store<f64>(column, NaN);
    cells += stride;
    column += 8;
  }
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
}

/** Returns the double nearest to w * 10^e. Returns NaN if the double is not certain or not normal. */
function nearest(w: u64, e: i32, powers: usize): f64 {
  if (w === 0) return 0;
  if (e < POWER_MIN || e > POWER_MAX) return NaN;
  const leading = clz(w);
  const factor = w << leading;
  const power = Wide.powerAt(powers, e);
  const high = load<u64>(power);
  // The upper 128 bits of the product are too large by at most 1, because the power is rounded up.
  const carried = Wide.highProduct(load<u64>(power, 8), factor);
  const rest = high * factor + carried;
  const upper = Wide.highProduct(high, factor) + <u64>(rest < carried);
  const shift = 10 + (upper >> 63);
  const half = (<u64>1) << (shift - 1);
  const below = upper & (2 * half - 1);
  if (below === half && rest <= 1) return NaN;
  const biased = <i64>shift + 1 - <i64>leading + Wide.log2(e) + 52 + 1023;
  if (biased < 1 || biased > 2045) return NaN;
  const mantissa = (upper >> shift) + <u64>(below >= half);
  return reinterpret<f64>(((<u64>(biased - 1)) << 52) + mantissa);
}
