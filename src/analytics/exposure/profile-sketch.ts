import type { Steps } from '../../steps.ts';
import { pick } from '../chain/pick.ts';
import { type GammaProfile, gexInSteps, netGexInSteps, type Positions, STEP } from './gamma-profile.ts';

/** A profile that is exact at some levels and interpolated at the others. */
export interface ProfileSketch extends GammaProfile {
  /** By how much the GEX of a level may be off: 0 where it is exact. */
  readonly doubt: Float64Array;
}

/** Points of the grid beyond the levels, which tell how the profile bends at the ends. */
const MARGIN = 2;
/** Of sums in which nearly all may cancel. */
const ROUNDING = 1e-9;

/**
 * Net GEX at levels (ascending) in a fraction of the time: wide positions on a grid a fixed percentage apart, at which the kernel
 * is quick, and on straight lines from there; narrow ones at the levels themselves.
 *
 * A line over a share t of a step is off by at most t (1 - t) / 2 times the second derivative in it; the doubt is twice that, by
 * the larger of the second differences at either end.
 */
export function* sketchInSteps({ wide, narrow }: Positions, level: Float64Array): Steps<ProfileSketch> {
  const step = Math.log1p(STEP);
  const first = level[0]! * Math.exp(-MARGIN * step);
  const count = Math.ceil(Math.log(level.at(-1)! / first) / step) + 1 + MARGIN;
  const grid = yield* gexInSteps(wide, { first, step, count });
  const bend = grid.map((each, at) => Math.abs(grid[at - 1]! - 2 * each + grid[at + 1]!));
  const gex = yield* gexInSteps(narrow, level);
  const doubt = new Float64Array(level.length);
  for (let at = 0; at < level.length; at++) {
    const place = Math.log(level[at]! / first) / step;
    const left = Math.floor(place);
    const share = place - left;
    const [from, to] = [grid[left]!, grid[left + 1]!];
    gex[at]! += from + share * (to - from);
    doubt[at] =
      share * (1 - share) * Math.max(bend[left]!, bend[left + 1]!) + ROUNDING * (Math.abs(from) + Math.abs(to));
  }
  return { level, gex, doubt };
}

/** Computes the levels that are in doubt and `matters` names; false where there is none. */
export function* sharpenInSteps(
  sketch: ProfileSketch,
  positions: Positions,
  matters: (at: number) => boolean,
): Steps<boolean> {
  const rows = Uint32Array.from(sketch.level.keys().filter((at) => sketch.doubt[at]! > 0 && matters(at)));
  if (rows.length === 0) return false;
  const exact = yield* netGexInSteps(positions, pick(sketch.level, rows));
  for (const [each, at] of rows.entries()) {
    sketch.gex[at] = exact[each]!;
    sketch.doubt[at] = 0;
  }
  return true;
}
