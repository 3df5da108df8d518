import { runToCompletion, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type GammaProfile, levelsWithin, type Positions, positionsInSteps, STEP } from './gamma-profile.ts';
import { type ProfileSketch, refineInSteps, sketchInSteps } from './profile-sketch.ts';

export interface GammaFlip {
  /** Spot at which net gamma changes sign, dollars. */
  readonly level: number;
  /** False if net gamma changes sign nowhere within half of spot: `level` is then where it comes nearest to zero. */
  readonly resolved: boolean;
}

/** Half-widths of the grid, as fractions of spot. They are tried in turn until the profile crosses zero. */
const HALF_WIDTHS = [0.2, 0.35, 0.5];

/** How far a profile must reach, as a fraction of spot, to show the flip: the narrowest half-width that contains it. */
export function profileHalfWidth({ level }: GammaFlip, spot: number): number {
  return HALF_WIDTHS.find((halfWidth) => Math.abs(level / spot - 1) <= halfWidth) ?? HALF_WIDTHS.at(-1)!;
}

/**
 * Computes every contract's gamma over a grid of spots around the present one, and finds the sign change nearest spot. Sticky strike: each
 * contract keeps its volatility, and forwards move in proportion. Perfiliev 2022. The cumulative sum by strike is never used, because it is
 * another quantity and jumps.
 */
export function gammaFlip(prepared: PreparedChain): GammaFlip {
  return runToCompletion(gammaFlipInSteps(prepared));
}

export function* gammaFlipInSteps(prepared: PreparedChain): Steps<GammaFlip> {
  return yield* flipOfPositionsInSteps(yield* positionsInSteps(prepared), prepared.chain.spot);
}

/** The same for given positions. */
export function* flipOfPositionsInSteps(positions: Positions, spot: number): Steps<GammaFlip> {
  let widest: ProfileSketch | undefined;
  for (const halfWidth of HALF_WIDTHS) {
    widest = yield* sketchInSteps(positions, levelsWithin(halfWidth, spot));
    const level = yield* crossingInSteps(widest, positions, spot);
    if (level !== undefined) return { level, resolved: true };
  }
  const { gex, errorBound } = widest!;
  const least = gex.reduce((sum, each, i) => Math.min(sum, Math.abs(each) + errorBound[i]!), Number.POSITIVE_INFINITY);
  yield* refineInSteps(widest!, positions, (i) => Math.abs(gex[i]!) - errorBound[i]! <= least);
  return { level: leastAbsolute(widest!, spot), resolved: false };
}

/**
 * At most levels the sign is enough, and the sketch has it. Only levels of uncertain sign, and those next to the flip, are computed
 * exactly.
 */
function* crossingInSteps(sketch: ProfileSketch, positions: Positions, spot: number): Steps<number | undefined> {
  const { level, gex, errorBound } = sketch;
  const changes = (i: number, to: number) => to in gex && Math.sign(gex[i]!) !== Math.sign(gex[to]!);
  for (;;) {
    const nearest = crossingNearest(sketch, spot);
    // Exact values can move a crossing by no more than the step that it is in.
    const reach = nearest === undefined ? 0 : Math.abs(nearest - spot) + 2 * STEP * spot;
    const isOpen = (i: number) =>
      Math.abs(gex[i]!) <= errorBound[i]! ||
      (Math.abs(level[i]! - spot) <= reach && (changes(i, i - 1) || changes(i, i + 1)));
    if (!(yield* refineInSteps(sketch, positions, isOpen))) return nearest;
  }
}

function crossingNearest({ level, gex }: GammaProfile, spot: number): number | undefined {
  let nearest: number | undefined;
  const consider = (candidate: number) => {
    if (nearest === undefined || Math.abs(candidate - spot) < Math.abs(nearest - spot)) nearest = candidate;
  };
  // The last level whose GEX was not exactly zero. A run of zeros between two signs is one crossing, at its middle.
  let before = -1;
  for (let i = 0; i < gex.length; i++) {
    if (gex[i] === 0) continue;
    // Compares signs, because the product of two tails underflows.
    if (before >= 0 && Math.sign(gex[before]!) !== Math.sign(gex[i]!)) {
      const share = i === before + 1 ? gex[before]! / (gex[before]! - gex[i]!) : 0.5;
      consider(level[before]! + share * (level[i]! - level[before]!));
    }
    before = i;
  }
  return nearest;
}

function leastAbsolute({ level, gex }: GammaProfile, spot: number): number {
  let best = 0;
  for (let i = 1; i < gex.length; i++) {
    const difference = Math.abs(gex[i]!) - Math.abs(gex[best]!);
    if (difference < 0 || (difference === 0 && Math.abs(level[i]! - spot) < Math.abs(level[best]! - spot))) best = i;
  }
  return level[best]!;
}
