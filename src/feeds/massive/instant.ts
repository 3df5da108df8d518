/**
 * Converts a time since the epoch from seconds, ms, µs or ns to ms. Until the year 5000, the magnitude of the number shows its unit.
 * Returns NaN if the value is not a positive number.
 */
export function instantMs(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return Number.NaN;
  // A double represents today's time in nanoseconds with an error of some hundred nanoseconds.
  return Math.round(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6);
}
