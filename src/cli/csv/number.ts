/** Digits that bring every double back (zero without its sign). */
const DIGITS = 17;

/** A computed number as a CSV cell. */
export function numberCell(value: number): string {
  return value.toPrecision(DIGITS);
}
