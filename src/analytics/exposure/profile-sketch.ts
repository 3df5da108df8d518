import type { Steps } from '../../steps.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { type GammaProfile, gexInSteps, netGexInSteps, type Positions, STEP } from './gamma-profile.ts';

/** A profile that is exact at some levels and interpolated at the others. */
export interface ProfileSketch extends GammaProfile {
  /** By how much the GEX of each level may be off. 0 if it is exact. */
  readonly errorBound: Float64Array;
}

/** Grid points beyond the levels at both ends. They show how the profile bends there. */
const MARGIN = 2;
/** Relative rounding error of sums in which almost all terms may cancel. */
const ROUNDING = 1e-9;

/**
 * Net GEX at the levels (ascending), in a fraction of the time. Wide positions are computed on a grid a fixed percentage apart, on which
 * the kernel is fast, and interpolated on straight lines. Narrow positions are computed at the levels themselves.
 *
 * At a share t of a grid step, the line is off by at most t (1 - t) / 2 times the second derivative in the step. The error bound
 * is twice that, with the larger of the second differences at both ends.
 */
export function* sketchInSteps({ wide, narrow }: Positions, level: Float64Array): Steps<ProfileSketch> {
  const step = Math.log1p(STEP);
  const first = level[0]! * Math.exp(-MARGIN * step);
  const count = Math.ceil(Math.log(level.at(-1)! / first) / step) + 1 + MARGIN;
  const grid = yield* gexInSteps(wide, { first, step, count });
  const curvature = grid.map((each, i) => Math.abs(grid[i - 1]! - 2 * each + grid[i + 1]!));
  const gex = yield* gexInSteps(narrow, level);
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

/** Computes exactly the interpolated levels for which `isRelevant` holds. Returns false if there are none. */
export function* refineInSteps(
  sketch: ProfileSketch,
  positions: Positions,
  isRelevant: (i: number) => boolean,
): Steps<boolean> {
  const rows = Uint32Array.from(sketch.level.keys().filter((i) => sketch.errorBound[i]! > 0 && isRelevant(i)));
  if (rows.length === 0) return false;
  const exact = yield* netGexInSteps(positions, rowsOfColumn(sketch.level, rows));
  for (const [i, row] of rows.entries()) {
    sketch.gex[row] = exact[i]!;
    sketch.errorBound[row] = 0;
  }
  return true;
}
