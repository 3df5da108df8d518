/** Parses the characters from `from` (included) to `to` (excluded) as a whole number. Returns `NaN` if a character is not a digit. */
export function parseDigits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = 10 * value + digit;
  }
  return value;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Parses a decimal number such as `-1.5e3`. NaN for other texts, also those that `Number` accepts: an empty text, `0x10`, `Infinity`. */
export function parseDecimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : Number.NaN;
}
