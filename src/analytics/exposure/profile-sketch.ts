import type { Steps } from '../../core/steps.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { type GammaProfile, gexOfColumns, netGexAtLevels, type Positions, STEP } from './gamma-profile.ts';

/** A gamma profile whose values are exact at some levels and interpolated at the others. */
export interface ProfileSketch extends GammaProfile {
  /** A bound of the absolute error of the GEX at each level. 0 if the GEX is exact. */
  readonly errorBound: Float64Array;
}

/** The number of grid points beyond the first and the last level. These points are needed for the second differences there. */
const MARGIN = 2;
/** A bound of the relative rounding error of the grid's sums, in which almost all terms may cancel. */
const ROUNDING = 1e-9;

/**
 * Approximates the net GEX at the levels, which must ascend, in a fraction of the time of exact values. The GEX of wide positions is
 * computed on a grid whose points are a fixed percentage apart, because the kernel is fast on such a grid. Between the grid points, the GEX
 * is interpolated linearly. The GEX of narrow positions is computed at the levels themselves.
 *
 * At a share t of a grid step, the error of linear interpolation is at most t (1 - t) / 2 times the largest second derivative in the step.
 * The error bound is twice this number. The bound uses the larger of the second differences at both ends of the step in place of the
 * derivative.
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

/** Replaces interpolated values by exact values at the levels for which `isRelevant` is true. Returns false if there are no such levels. */
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
