/**
 * Converts a time since the epoch from seconds, ms, µs or ns to ms. The magnitude of the number shows its unit, until the year 5000.
 * Returns NaN if the value is not a positive number.
 */
export function instantMs(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return Number.NaN;
  // As a double, the present time in nanoseconds has an error of some hundred nanoseconds.
  return Math.round(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6);
}
