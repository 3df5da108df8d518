const [PLUS, MINUS, POINT, ZERO] = [0x2b, 0x2d, 0x2e, 0x30];
/** A whole number with this many digits is an exact double. */
const EXACT_DIGITS = 15;
/** The powers of ten that are exact doubles. */
const POWERS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * Parses the decimal number in the bytes [from, to), such as `25.30`, `.5` or `-1`. The result is the double nearest to the number. Returns
 * NaN for any other text, and also for numbers that cannot be parsed fast: with an exponent, with more than 30 significant digits or with
 * more than 22 decimals. So if the result is NaN, the caller must parse the text.
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
  if (at < to || at - start === (point < 0 ? 0 : 1)) return Number.NaN;
  const places = point < 0 ? 0 : at - point - 1;
  if (significant > 2 * EXACT_DIGITS || places >= POWERS.length) return Number.NaN;
  // One division of two exact doubles rounds correctly.
  const value = significant <= EXACT_DIGITS ? high / POWERS[places]! : longDecimal(high, low, significant, places);
  return isNegative ? -value : value;
}

/**
 * Returns the double nearest to a number with 16 to 30 significant digits. `high` is the number of the first 15 digits, and `low` is the
 * number of the other digits. The quotient is computed with twice the precision of a double. Returns NaN if this precision does not decide
 * the last bit.
 */
function longDecimal(high: number, low: number, significant: number, places: number): number {
  const scale = POWERS[significant - EXACT_DIGITS]!;
  const product = high * scale;
  const whole = product + low;
  const rest = productError(high, scale, product) + (low - (whole - product));
  const divisor = POWERS[places]!;
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
