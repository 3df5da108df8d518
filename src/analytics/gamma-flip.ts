import { gammaProfile } from '../math/gamma-exposure.ts';
import type { PreparedChain } from './prepared-chain.ts';

export interface GammaFlip {
  /** Spot at which net gamma changes sign, dollars. */
  readonly level: number;
  /** False where it changes sign nowhere within half of spot: `level` is then where it comes nearest to zero. */
  readonly resolved: boolean;
}

export interface GammaProfile {
  /** Spots, ascending, dollars. */
  readonly level: Float64Array;
  /** Net GEX at each, dollars per 1 % move. */
  readonly gex: Float64Array;
}

const STEP = 0.0025;
/** Widened in turn until the profile crosses zero. */
const HALF_WIDTHS = [0.2, 0.35, 0.5];

/**
 * Re-prices every contract's gamma over a grid of spots around the present one (sticky strike: each keeps its volatility;
 * forwards move in proportion) and finds the sign change nearest spot. Perfiliev 2022. Never from the cumulative sum by
 * strike, which is another quantity and jumps.
 */
export function gammaFlip(prepared: PreparedChain): GammaFlip {
  const { spot } = prepared.chain;
  let widest: GammaProfile | undefined;
  for (const halfWidth of HALF_WIDTHS) {
    widest = netGammaProfile(prepared, halfWidth);
    const level = crossingNearest(widest, spot);
    if (level !== undefined) return { level, resolved: true };
  }
  return { level: leastAbsolute(widest!, spot), resolved: false };
}

/** Net GEX over spots within `halfWidth` (a fraction) of the present one, in steps of a quarter percent. */
export function netGammaProfile(prepared: PreparedChain, halfWidth: number): GammaProfile {
  const { chain, callPut, strike, tte, rate, dividend } = prepared;
  const steps = Math.round(halfWidth / STEP);
  const level = Float64Array.from({ length: 2 * steps + 1 }, (_, at) => chain.spot * (1 + (at - steps) * STEP));
  // A contract with no volatility has no gamma elsewhere either.
  const known = prepared.iv.map((iv) => (Number.isNaN(iv) ? 0 : iv));
  const weight = callPut.map((sign, at) =>
    known[at]! > 0 ? sign * prepared.weight[at]! * prepared.multiplier[at]! : 0,
  );
  const gamma = gammaProfile({ count: prepared.count, strike, tte, iv: known, rate, dividend, weight }, level);
  return { level, gex: gamma.map((sum, at) => sum * level[at]! ** 2 * 0.01) };
}

function crossingNearest({ level, gex }: GammaProfile, spot: number): number | undefined {
  let nearest: number | undefined;
  const offer = (candidate: number) => {
    if (nearest === undefined || Math.abs(candidate - spot) < Math.abs(nearest - spot)) nearest = candidate;
  };
  // The last level that was not exactly zero: a run of zeros between two signs is one crossing, at its middle.
  let before = -1;
  for (let at = 0; at < gex.length; at++) {
    if (gex[at] === 0) continue;
    // By sign: the product of two tails underflows.
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
