import { cachedBy, type Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import {
  type GammaProfile,
  gexOfColumns,
  levelsWithin,
  netGexAtLevels,
  type Positions,
  positionsOf,
  STEP,
} from './gamma-profile.ts';

/** The flip of net gamma, or a substitute spot if there is no flip. */
export interface GammaFlip {
  /** The spot at which net gamma changes its sign, dollars. */
  readonly level: number;
  /**
   * False if net gamma keeps its sign from 50 % below to 50 % above spot. `level` is then the spot with the smallest absolute net gamma.
   */
  readonly resolved: boolean;
}

/** Half-widths of the grid of spots, as fractions of the present spot. If net gamma keeps its sign on one grid, the next grid is tried. */
const HALF_WIDTHS = [0.2, 0.35, 0.5];

/** Returns the half-width of the narrowest profile that contains the flip, as a fraction of spot. */
export function profileHalfWidth({ level }: GammaFlip, spot: number): number {
  return HALF_WIDTHS.find((halfWidth) => Math.abs(level / spot - 1) <= halfWidth) ?? HALF_WIDTHS.at(-1)!;
}

/**
 * Computes net gamma over a grid of spots, and finds the sign change nearest to the present spot (Perfiliev 2022). Volatilities stay at
 * their strikes, and forwards move with spot. Other tools use the strike where the cumulative gamma by strike changes its sign, which is a
 * different quantity and changes in jumps. The flip is cached by the chain.
 */
export const gammaFlip = cachedBy('Finding the gamma flip', function* (prepared: PreparedChain): Steps<GammaFlip> {
  return yield* flipOfPositions(yield* positionsOf(prepared), prepared.chain.spot);
});

/** Finds the gamma flip of the given dealer positions. */
export function* flipOfPositions(positions: Positions, spot: number): Steps<GammaFlip> {
  let widest: ProfileSketch | undefined;
  for (const halfWidth of HALF_WIDTHS) {
    widest = yield* sketchProfile(positions, levelsWithin(halfWidth, spot));
    const level = yield* findCrossing(widest, positions, spot);
    if (level !== undefined) return { level, resolved: true };
  }
  const { gex, errorBound } = widest!;
  const least = gex.reduce((sum, each, i) => Math.min(sum, Math.abs(each) + errorBound[i]!), Number.POSITIVE_INFINITY);
  yield* refineProfile(widest!, positions, (i) => Math.abs(gex[i]!) - errorBound[i]! <= least);
  return { level: leastAbsolute(widest!, spot), resolved: false };
}

/** Returns the sign change nearest to spot, if any. Values next to it and with an uncertain sign are computed exactly. */
function* findCrossing(sketch: ProfileSketch, positions: Positions, spot: number): Steps<number | undefined> {
  const { level, gex, errorBound } = sketch;
  const changes = (i: number, to: number) => to in gex && Math.sign(gex[i]!) !== Math.sign(gex[to]!);
  for (;;) {
    const nearest = crossingNearest(sketch, spot);
    // If all signs are certain, replacing an approximate value by the exact value moves a sign change by at most one grid step. The nearest
    // sign change may thus move by one step, and another sign change may become the nearest. `reach` is therefore two steps longer than the
    // distance to the nearest sign change. The values next to both sign changes are then exact.
    const reach = nearest === undefined ? 0 : Math.abs(nearest - spot) + 2 * STEP * spot;
    const isOpen = (i: number) =>
      Math.abs(gex[i]!) <= errorBound[i]! ||
      (Math.abs(level[i]! - spot) <= reach && (changes(i, i - 1) || changes(i, i + 1)));
    if (!(yield* refineProfile(sketch, positions, isOpen))) return nearest;
  }
}

/** Returns the sign change of a profile that is nearest to spot, or `undefined` if there is none. */
function crossingNearest({ level, gex }: GammaProfile, spot: number): number | undefined {
  let nearest: number | undefined;
  const consider = (candidate: number) => {
    if (nearest === undefined || Math.abs(candidate - spot) < Math.abs(nearest - spot)) nearest = candidate;
  };
  // The index of the last nonzero GEX. Zeros between a positive and a negative GEX count as one sign change, in the middle of the zeros.
  let before = -1;
  for (let i = 0; i < gex.length; i++) {
    if (gex[i] === 0) continue;
    // The code compares the signs and not the product of the values, because far from the strikes the product would underflow.
    if (before >= 0 && Math.sign(gex[before]!) !== Math.sign(gex[i]!)) {
      const share = i === before + 1 ? gex[before]! / (gex[before]! - gex[i]!) : 0.5;
      consider(level[before]! + share * (level[i]! - level[before]!));
    }
    before = i;
  }
  return nearest;
}

/** Returns the spot with the smallest absolute GEX. On a tie, returns the spot nearest to the present spot. */
function leastAbsolute({ level, gex }: GammaProfile, spot: number): number {
  let best = 0;
  for (let i = 1; i < gex.length; i++) {
    const difference = Math.abs(gex[i]!) - Math.abs(gex[best]!);
    if (difference < 0 || (difference === 0 && Math.abs(level[i]! - spot) < Math.abs(level[best]! - spot))) best = i;
  }
  return level[best]!;
}

/** A gamma profile whose values are exact at some levels and interpolated at the others. */
interface ProfileSketch extends GammaProfile {
  /** An upper bound of the absolute GEX error at each level. 0 if the GEX is exact. */
  readonly errorBound: Float64Array;
}

/** The number of grid points beyond the levels on each side. The second difference at an outermost level needs one more grid point. */
const MARGIN = 2;
/** An upper bound of the relative rounding error in the sums at the grid points. The bound allows for almost cancelling terms. */
const ROUNDING = 1e-9;

/**
 * Approximates the net GEX at ascending levels in a fraction of the time of exact values. The GEX of wide positions is interpolated
 * linearly between grid points a fixed percentage apart, where the kernel is fast. At the fraction `t` of a grid step, the error is at most
 * `t (1 - t) / 2` times the largest second derivative in the step. The code takes the larger second difference at the ends of the step, and
 * doubles the result.
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

/** Replaces interpolated by exact values at levels for which `isRelevant` is true. Returns false if there are none. */
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
