import type { Steps } from '../../core/steps.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { type GammaProfile, gexOfColumns, netGexAtLevels, type Positions, STEP } from './gamma-profile.ts';

/** A gamma profile whose values are exact at some levels and interpolated at the others. */
export interface ProfileSketch extends GammaProfile {
  /** An upper bound of the absolute GEX error at each level. 0 if the GEX is exact. */
  readonly errorBound: Float64Array;
}

/** The number of grid points beyond the levels on each side. The second difference at an outermost level needs one more grid point. */
const MARGIN = 2;
/** An upper bound of the relative rounding error in the sums at the grid points. The bound allows for almost cancelling terms. */
const ROUNDING = 1e-9;

/**
 * Approximates the net GEX at the levels. The approximation takes a fraction of the time that exact values take. The levels must ascend.
 * For wide positions, GEX is computed at grid points a fixed percentage apart, because the kernel is fast on such a grid. Between the
 * points, the GEX is interpolated linearly. For narrow positions, GEX is computed at the levels themselves.
 *
 * At the fraction `t` of a grid step, linear interpolation has an error of at most `t (1 - t) / 2` times the largest second derivative in
 * the step. The code replaces this derivative by the larger second difference at the two ends of the step, and doubles the result.
 */
export function* sketchProfile({ wide, narrow }: Positions, level: Float64Array): Steps<ProfileSketch> {
  const step = Math.log1p(STEP);
  const first = level[0]! * Math.exp(-MARGIN * step);
  const count = Math.ceil(Math.log(level.at(-1)! / first) / step) + 1 + MARGIN;
  const grid = yield* gexOfColumns(wide, { first, step, count });
  const curvature = grid.map((each, i) => Math.abs(grid[i - 1]! - 2 * each + grid[i + 1]!));
  const gex = yield* gexOfColumns(narrow, level);
  const errorBound = new Float64Array(level.length);
  for (let i = 0; i < level.length; i++) {
    const position = Math.log(level[i]! / first) / step;
    const left = Math.floor(position);
    const share = position - left;
    const [from, to] = [grid[left]!, grid[left + 1]!];
    gex[i]! += from + share * (to - from);
    errorBound[i] =
      share * (1 - share) * Math.max(curvature[left]!, curvature[left + 1]!) +
      ROUNDING * (Math.abs(from) + Math.abs(to));
  }
  return { level, gex, errorBound };
}

/**
 * Replaces interpolated values by exact values at levels for which `isRelevant` is true. Returns false if `isRelevant` returns true for no
 * interpolated level.
 */
export function* refineProfile(
  sketch: ProfileSketch,
  positions: Positions,
  isRelevant: (i: number) => boolean,
): Steps<boolean> {
  const rows = Uint32Array.from(sketch.level.keys().filter((i) => sketch.errorBound[i]! > 0 && isRelevant(i)));
  if (rows.length === 0) return false;
  const exact = yield* netGexAtLevels(positions, rowsOfColumn(sketch.level, rows));
  for (const [i, row] of rows.entries()) {
    sketch.gex[row] = exact[i]!;
    sketch.errorBound[row] = 0;
  }
  return true;
}
