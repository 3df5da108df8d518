/**
 * Converts a time in seconds, ms, µs or ns to ms since the epoch. Until the year 5000, the magnitude shows the unit. Returns NaN if the
 * value is not a positive number.
 */
export function instantMs(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return Number.NaN;
  // A double holds today's nanoseconds to a precision of some hundreds.
  return Math.round(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6);
}
