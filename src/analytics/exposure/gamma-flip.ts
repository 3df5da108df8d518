import { cachedBy, type Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import {
  type GammaProfile,
  gexOfColumns,
  grossGexOf,
  levelsWithin,
  netGexAtLevels,
  netGexOf,
  type Positions,
  positionsOf,
  STEP,
} from './gamma-profile.ts';
import { SIGN_MARGIN_MIN_PCT, signMarginPct } from './sign-margin.ts';
import { isStickyStrike } from './smile-dynamics.ts';

/** The flip of net gamma, or a substitute spot if there is no flip. */
export interface GammaFlip {
  /** The spot at which net gamma changes its sign, dollars. */
  readonly level: number;
  /**
   * False if net gamma keeps its sign from 50 % below to 50 % above spot: `level` is then the spot with the smallest absolute net gamma. Also
   * false if `level` is outside the quoted strikes, because the volatilities there come from no quote.
   */
  readonly resolved: boolean;
  /** True if net gamma changes its sign at `level`, but outside the quoted strikes. */
  readonly isOutside?: true;
}

/** Half-widths of the grid of spots, as fractions of the present spot. If net gamma keeps its sign on one grid, the next grid is tried. */
const HALF_WIDTHS = [0.2, 0.35, 0.5];

/** Returns the half-width of the narrowest profile that contains the flip, as a fraction of spot. */
export function profileHalfWidth({ level }: GammaFlip, spot: number): number {
  return HALF_WIDTHS.find((halfWidth) => Math.abs(level / spot - 1) <= halfWidth) ?? HALF_WIDTHS.at(-1)!;
}

/**
 * Computes net gamma over a grid of spots, and finds the sign change nearest to the present spot (Perfiliev 2022). Smiles move by the chain's
 * smile dynamics, and forwards with spot. Other tools use the strike where the cumulative gamma by strike changes its sign, which is a
 * different quantity and changes in jumps. The flip is cached by the chain.
 */
export const gammaFlip = cachedBy('Finding the gamma flip', function* (prepared: PreparedChain): Steps<GammaFlip> {
  const quoted = quotedStrikes(prepared);
  if (!isStickyStrike(prepared)) return yield* flipOfMovedSmiles(prepared, quoted);
  return yield* flipOfPositions(yield* positionsOf(prepared), prepared.chain.spot, quoted);
});

export type StrikeRange = readonly [lowest: number, highest: number];

/** Returns the lowest and the highest strike whose volatility comes from a quote or from the feed. */
export function quotedStrikes({ series, pairs, options }: PreparedChain): StrikeRange {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0];
  const include = (strike: number) => {
    lowest = Math.min(lowest, strike);
    highest = Math.max(highest, strike);
  };
  // With `own`, each contract has the volatility of the feed, also contracts that the smile leaves out.
  if (options.iv === 'own') for (const [i, strike] of pairs.strike.entries()) if (pairs.iv[i]! > 0) include(strike);
  for (const { forward, smile } of series) {
    for (const end of [smile.logMoneyness[0], smile.logMoneyness.at(-1)])
      if (end !== undefined) include(forward * Math.exp(end));
  }
  return [lowest * (1 - STRIKE_ROUNDING), highest * (1 + STRIKE_ROUNDING)];
}

/** The relative rounding of a strike that is computed from its log-moneyness. */
const STRIKE_ROUNDING = 1e-12;

function flipAt(level: number, [lowest, highest]: StrikeRange): GammaFlip {
  const isOutside = level < lowest || level > highest;
  return { level, resolved: !isOutside, ...(isOutside && { isOutside }) };
}

/** Finds the gamma flip of the given dealer positions, with the range of strikes that are quoted. Volatilities stay at their strikes. */
export function* flipOfPositions(positions: Positions, spot: number, quoted: StrikeRange): Steps<GammaFlip> {
  let widest: ProfileSketch | undefined;
  for (const halfWidth of HALF_WIDTHS) {
    widest = yield* sketchProfile(positions, levelsWithin(halfWidth, spot));
    const level = yield* findCrossing(widest, positions, spot);
    if (level !== undefined) return flipAt(level, quoted);
  }
  const { gex, errorBound } = widest!;
  const least = gex.reduce((sum, each, i) => Math.min(sum, Math.abs(each) + errorBound[i]!), Number.POSITIVE_INFINITY);
  yield* refineProfile(widest!, positions, (i) => Math.abs(gex[i]!) - errorBound[i]! <= least);
  return { level: leastAbsolute(widest!, spot), resolved: false };
}

/** One in so many levels is priced first if smiles move. The interval with the nearest sign change is then priced at all its levels. */
const COARSE = 4;

/** Finds the gamma flip of a chain whose smiles move with spot. */
function* flipOfMovedSmiles(prepared: PreparedChain, quoted: StrikeRange): Steps<GammaFlip> {
  const { spot } = prepared.chain;
  let profile: GammaProfile | undefined;
  for (const halfWidth of HALF_WIDTHS) {
    const fine = levelsWithin(halfWidth, spot);
    const level = fine.filter((_, i) => i % COARSE === 0);
    profile = { level, gex: yield* netGexOf(prepared, level) };
    const nearest = crossingNearest(profile, spot);
    if (nearest === undefined) continue;
    const near = fine.filter((each) => Math.abs(each - nearest) <= COARSE * STEP * spot);
    return flipAt(crossingNearest({ level: near, gex: yield* netGexOf(prepared, near) }, spot) ?? nearest, quoted);
  }
  return { level: leastAbsolute(profile!, spot), resolved: false };
}

/** Spots, dollars. */
export interface FlipZone {
  readonly low: number;
  readonly high: number;
}

/** The number of levels that are priced at once on a side of the flip. Beyond the first ones, one in `COARSE` levels is priced. */
const ZONE_LEVELS = 12;
const ZONE = { message: 'Finding the zone of the flip' };

/**
 * Returns the spots around the flip at which the sign margin is below `SIGN_MARGIN_MIN_PCT`, interpolated between levels and at most 50 % from
 * spot. Returns null if the flip is not resolved.
 */
export const flipZone = cachedBy(ZONE.message, function* (prepared: PreparedChain): Steps<FlipZone | null> {
  const { level, resolved } = yield* gammaFlip(prepared);
  if (!resolved) return null;
  return { low: yield* zoneEnd(prepared, level, -1), high: yield* zoneEnd(prepared, level, 1) };
});

function* zoneEnd(prepared: PreparedChain, flip: number, direction: 1 | -1): Steps<number> {
  const all = levelsWithin(HALF_WIDTHS.at(-1)!, prepared.chain.spot).filter((each) => direction * (each - flip) > 0);
  if (direction < 0) all.reverse();
  const levels = all.filter((_, i) => i < ZONE_LEVELS || i % COARSE === 0);
  // The margin is 0 at the flip.
  let [place, below] = [flip, -SIGN_MARGIN_MIN_PCT];
  for (let from = 0; from < levels.length; from += ZONE_LEVELS) {
    const level = levels.slice(from, from + ZONE_LEVELS);
    yield ZONE;
    const gross = yield* grossGexOf(prepared, level);
    yield ZONE;
    const net = yield* netGexOf(prepared, level);
    for (const [i, each] of level.entries()) {
      const excess = signMarginPct(net[i]!, gross[i]!) - SIGN_MARGIN_MIN_PCT;
      if (excess >= 0) return place + ((each - place) * below) / (below - excess);
      [place, below] = [each, excess];
    }
  }
  return place;
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
