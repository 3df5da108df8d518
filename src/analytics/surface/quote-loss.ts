/** An error of at most this share of the half-width is only noise. */
const QUIET = 0.6;
/** A larger error costs this many times as much. */
const STEEPNESS = 10;
/** Beyond this many half-widths, the quote is taken to be faulty, and the cost of the error grows only linearly. */
const CAP = 5;

/**
 * Costs of errors in half-widths. `side` is 0 for a quote, +1 for an upper bound, -1 for a lower one. The cost of a quote's error is its square
 * up to `QUIET`, steeper up to `CAP`, then straight. It is convex, and its first derivative is continuous. An error within a bound costs nothing.
 */
export function lossOf(error: number, side: number): number {
  if (side !== 0) return STEEPNESS * Math.max(0, side * error) ** 2;
  const size = Math.abs(error);
  if (size <= QUIET) return size * size;
  const capped = Math.min(size, CAP) - QUIET;
  const value = QUIET * QUIET + 2 * QUIET * capped + STEEPNESS * capped * capped;
  return size <= CAP ? value : value + 2 * (QUIET + STEEPNESS * (CAP - QUIET)) * (size - CAP);
}

/** Half of the derivative of the loss. */
export function lossSlope(error: number, side: number): number {
  if (side !== 0) return STEEPNESS * side * Math.max(0, side * error);
  const size = Math.abs(error);
  if (size <= QUIET) return error;
  const slope = QUIET + STEEPNESS * (Math.min(size, CAP) - QUIET);
  return error > 0 ? slope : -slope;
}

/** Half of the second derivative of the loss. Where the loss is straight, the curvature of the parabola around zero that touches it. */
export function lossCurvature(error: number, side: number): number {
  if (side !== 0) return side * error > 0 ? STEEPNESS : 0;
  const size = Math.abs(error);
  if (size <= QUIET) return 1;
  return size <= CAP ? STEEPNESS : lossSlope(size, 0) / size;
}
