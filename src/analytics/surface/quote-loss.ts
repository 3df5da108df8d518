/** An error of at most this share of the half-width is taken as noise. */
const QUIET = 0.6;
/**
 * The curvature (second derivative) of the cost of an error above `QUIET` is this many times that of a smaller error. This curvature also
 * holds for errors beyond a bound.
 */
const STEEPNESS = 10;
/** If the error is more than this many half-widths, the quote is taken as faulty. The cost of the error then grows only linearly. */
const CAP = 5;

/**
 * Returns the cost, or loss, of an error in half-widths. `side` is 0 for a quote, +1 for an upper bound, -1 for a lower bound. The cost of
 * a quote's error is the square of the error up to `QUIET`. From there to `CAP` it grows faster, and beyond `CAP` linearly. The cost is a
 * convex function, and its first derivative is continuous. For a bound, an error on the permitted side costs nothing.
 */
export function lossOf(error: number, side: number): number {
  if (side !== 0) return STEEPNESS * Math.max(0, side * error) ** 2;
  const size = Math.abs(error);
  if (size <= QUIET) return size * size;
  const capped = Math.min(size, CAP) - QUIET;
  const value = QUIET * QUIET + 2 * QUIET * capped + STEEPNESS * capped * capped;
  return size <= CAP ? value : value + 2 * (QUIET + STEEPNESS * (CAP - QUIET)) * (size - CAP);
}

/** Returns half of the derivative of the loss. */
export function lossSlope(error: number, side: number): number {
  if (side !== 0) return STEEPNESS * side * Math.max(0, side * error);
  const size = Math.abs(error);
  if (size <= QUIET) return error;
  const slope = QUIET + STEEPNESS * (Math.min(size, CAP) - QUIET);
  return error > 0 ? slope : -slope;
}

/**
 * Returns half of the second derivative of the loss. Where the loss is linear, this derivative would be 0. There, the function returns half
 * of the second derivative of the parabola around 0 that has the loss's slope at this error.
 */
export function lossCurvature(error: number, side: number): number {
  if (side !== 0) return side * error > 0 ? STEEPNESS : 0;
  const size = Math.abs(error);
  if (size <= QUIET) return 1;
  return size <= CAP ? STEEPNESS : lossSlope(size, 0) / size;
}
