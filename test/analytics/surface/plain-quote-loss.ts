/** The largest price error that is taken as noise, as a share of the half-width. */
const QUIET = 0.6;
/** The second derivative of the cost is larger by this factor for errors above `QUIET` and for errors beyond a bound. */
const STEEPNESS = 10;
/** The error above which a quote counts as faulty, in half-widths. Above `CAP`, the cost grows only linearly with the error. */
const CAP = 5;

/**
 * Returns the loss of an error in half-widths. `side` is 0 for a quote, +1 for an upper bound, -1 for a lower bound. For a quote, it is the
 * squared error up to `QUIET`, steeper up to `CAP`, and then linear: convex, with a continuous derivative. On the permitted side of a
 * bound, it is 0.
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

/** Returns half of the second derivative of the loss, or in its linear part, that of a parabola around 0 with the same slope. */
export function lossCurvature(error: number, side: number): number {
  if (side !== 0) return side * error > 0 ? STEEPNESS : 0;
  const size = Math.abs(error);
  if (size <= QUIET) return 1;
  return size <= CAP ? STEEPNESS : lossSlope(size, 0) / size;
}
