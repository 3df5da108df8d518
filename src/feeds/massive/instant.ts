/** ms since the epoch of a number that counts seconds, ms, µs or ns: until the year 5000 its magnitude tells. NaN for no number. */
export function instantMs(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return Number.NaN;
  // A double holds nanoseconds of today to some hundreds.
  return Math.round(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6);
}
