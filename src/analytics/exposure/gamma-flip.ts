import { runToCompletion, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { type GammaProfile, levelsWithin, type Positions, positionsInSteps, STEP } from './gamma-profile.ts';
import { type ProfileSketch, sharpenInSteps, sketchInSteps } from './profile-sketch.ts';

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
  const { gex, doubt } = widest!;
  const least = gex.reduce((sum, each, at) => Math.min(sum, Math.abs(each) + doubt[at]!), Number.POSITIVE_INFINITY);
  yield* sharpenInSteps(widest!, positions, (at) => Math.abs(gex[at]!) - doubt[at]! <= least);
  return { level: leastAbsolute(widest!, spot), resolved: false };
}

/**
 * At most levels the sign is enough, and the sketch has it. Only levels of uncertain sign, and those next to the flip, are computed
 * exactly.
 */
function* crossingInSteps(sketch: ProfileSketch, positions: Positions, spot: number): Steps<number | undefined> {
  const { level, gex, doubt } = sketch;
  const changes = (at: number, to: number) => to in gex && Math.sign(gex[at]!) !== Math.sign(gex[to]!);
  for (;;) {
    const nearest = crossingNearest(sketch, spot);
    // Exact values can move a crossing by no more than the step that it is in.
    const reach = nearest === undefined ? 0 : Math.abs(nearest - spot) + 2 * STEP * spot;
    const isOpen = (at: number) =>
      Math.abs(gex[at]!) <= doubt[at]! ||
      (Math.abs(level[at]! - spot) <= reach && (changes(at, at - 1) || changes(at, at + 1)));
    if (!(yield* sharpenInSteps(sketch, positions, isOpen))) return nearest;
  }
}

function crossingNearest({ level, gex }: GammaProfile, spot: number): number | undefined {
  let nearest: number | undefined;
  const offer = (candidate: number) => {
    if (nearest === undefined || Math.abs(candidate - spot) < Math.abs(nearest - spot)) nearest = candidate;
  };
  // The last level whose GEX was not exactly zero. A run of zeros between two signs is one crossing, at its middle.
  let before = -1;
  for (let at = 0; at < gex.length; at++) {
    if (gex[at] === 0) continue;
    // Compares signs, because the product of two tails underflows.
    if (before >= 0 && Math.sign(gex[before]!) !== Math.sign(gex[at]!)) {
      const share = at === before + 1 ? gex[before]! / (gex[before]! - gex[at]!) : 0.5;
      offer(level[before]! + share * (level[at]! - level[before]!));
    }
    before = at;
  }
  return nearest;
}

function leastAbsolute({ level, gex }: GammaProfile, spot: number): number {
  let best = 0;
  for (let at = 1; at < gex.length; at++) {
    const difference = Math.abs(gex[at]!) - Math.abs(gex[best]!);
    if (difference < 0 || (difference === 0 && Math.abs(level[at]! - spot) < Math.abs(level[best]! - spot))) best = at;
  }
  return level[best]!;
}
