import type { QuoteBands } from './slice-model.ts';

/** The lowest and the highest probability of ending at or above a strike that quoted vertical spreads allow, 0 to 1. */
export interface VerticalBounds {
  readonly low: number;
  readonly high: number;
}

/** Verticals are formed from this many strikes on each side. */
const STRIKES = 6;

/**
 * Returns the bounds that verticals around a strike set without arbitrage, 0 and 1 if there are none. A call spread above the strike, bought at its
 * best price, is a lower bound of the probability, and one below the strike is an upper bound. Puts count as calls by parity.
 */
export function verticalBounds({ callPut, moneyness, price, halfWidth }: QuoteBands, strike: number): VerticalBounds {
  const rows = [...moneyness.keys()].toSorted((a, b) => moneyness[a]! - moneyness[b]!);
  const asCall = (i: number) => price[i]! + (callPut[i]! > 0 ? 0 : 1 - moneyness[i]!);
  const below = rows.filter((i) => moneyness[i]! <= strike).slice(-STRIKES);
  const above = rows.filter((i) => moneyness[i]! >= strike).slice(0, STRIKES);
  let [low, high] = [0, 1];
  const eachPair = (side: readonly number[], visit: (lower: number, upper: number, distance: number) => void) => {
    for (const [n, lower] of side.entries()) {
      for (const upper of side.slice(n + 1)) {
        const distance = moneyness[upper]! - moneyness[lower]!;
        if (distance > 0) visit(lower, upper, distance);
      }
    }
  };
  eachPair(below, (lower, upper, distance) => {
    const most = asCall(lower) + halfWidth[lower]! - asCall(upper) + halfWidth[upper]!;
    high = Math.min(high, most / distance);
  });
  eachPair(above, (lower, upper, distance) => {
    const least = asCall(lower) - halfWidth[lower]! - asCall(upper) - halfWidth[upper]!;
    low = Math.max(low, least / distance);
  });
  return { low, high: Math.max(high, 0) };
}
