const [PLUS, MINUS, POINT, ZERO, LETTER_E] = [0x2b, 0x2d, 0x2e, 0x30, 0x65];
/** A whole number with this many digits is an exact double. */
const EXACT_DIGITS = 15;
/** The powers of ten that are exact doubles. */
const POWERS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * Parses the decimal number in the bytes [from, to), such as `25.30`, `.5` or `-1e-3`. The result is the double nearest to the number.
 * Returns NaN for any other text. Also returns NaN for some numbers that cannot be parsed fast: numbers with more than 30 significant
 * digits and very large or very small numbers. So if the result is NaN, the caller must parse the text.
 */
export function decimalIn(bytes: Uint8Array, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  let at = isNegative || bytes[from] === PLUS ? from + 1 : from;
  const start = at;
  let high = 0;
  let low = 0;
  let significant = 0;
  let point = -1;
  for (; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (significant < EXACT_DIGITS) {
        high = 10 * high + digit;
        if (high > 0) significant++;
      } else {
        low = 10 * low + digit;
        significant++;
      }
    } else if (digit === POINT - ZERO && point < 0) point = at;
    else break;
  }
  if (at - start === (point < 0 ? 0 : 1)) return Number.NaN;
  let power = point < 0 ? 0 : point + 1 - at;
  if (at < to) power += exponentIn(bytes, at, to);
  const value = significant <= EXACT_DIGITS ? scaled(high, power) : longDecimal(high, low, significant, power);
  return isNegative ? -value : value;
}

/** Parses an exponent such as `e-05`. Returns NaN for any other text, and for an exponent with more than three digits. */
function exponentIn(bytes: Uint8Array, from: number, to: number): number {
  if ((bytes[from]! | 0x20) !== LETTER_E) return Number.NaN;
  const isNegative = bytes[from + 1] === MINUS;
  const start = isNegative || bytes[from + 1] === PLUS ? from + 2 : from + 1;
  if (start >= to || to - start > 3) return Number.NaN;
  let value = 0;
  for (let at = start; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = 10 * value + digit;
  }
  return isNegative ? -value : value;
}

/** Multiplies an exact whole number by a power of ten. One operation on two exact doubles rounds correctly. */
function scaled(value: number, power: number): number {
  if (power === 0) return value;
  if (power < 0) return power >= -22 ? value / POWERS[-power]! : Number.NaN;
  return power <= 22 ? value * POWERS[power]! : Number.NaN;
}

/**
 * Returns the double nearest to a number with 16 to 30 significant digits. `high` is the number of the first 15 digits, and `low` is the
 * number of the other digits. The quotient is computed with twice the precision of a double. Returns NaN if this precision does not decide
 * the last bit, or if the power of ten is out of bounds.
 */
function longDecimal(high: number, low: number, significant: number, power: number): number {
  if (!(significant <= 2 * EXACT_DIGITS && power <= 0 && power >= -22)) return Number.NaN;
  const scale = POWERS[significant - EXACT_DIGITS]!;
  const product = high * scale;
  const whole = product + low;
  const rest = productError(high, scale, product) + (low - (whole - product));
  const divisor = POWERS[-power]!;
  const quotient = whole / divisor;
  const back = quotient * divisor;
  const correction = (whole - back - productError(quotient, divisor, back) + rest) / divisor;
  // The error of the correction is below 2^-100 of the quotient.
  const margin = quotient * 2 ** -98;
  const rounded = quotient + (correction + margin);
  return rounded === quotient + (correction - margin) ? rounded : Number.NaN;
}

/** Returns `a * b - product` without an error, where `product` is the rounded product (Dekker 1971). */
function productError(a: number, b: number, product: number): number {
  const aHigh = a * SPLITTER - (a * SPLITTER - a);
  const bHigh = b * SPLITTER - (b * SPLITTER - b);
  const aLow = a - aHigh;
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** Multiplication by 2^27 + 1 splits a double into two halves of 26 bits. */
const SPLITTER = 2 ** 27 + 1;
