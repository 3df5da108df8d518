/** Significant digits from which every double can be read back exactly, except the sign of zero. */
const DIGITS = 17;

/** Formats a computed number as a CSV cell. */
export function numberCell(value: number): string {
  return value.toPrecision(DIGITS);
}

/** Formats a count for people, with commas between thousands. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}
