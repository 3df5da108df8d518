import type { QuoteBands } from './slice-model.ts';

/** Vertical spreads are formed from this number of quotes on each side of the strike. */
const STRIKES = 6;

/**
 * Returns the lowest and the highest probability that the price ends at or above a strike (a multiple of the forward), 0 and 1 without
 * spreads. A vertical spread is a bought call and a sold call with a higher strike. The selling price of a spread above the strike, divided
 * by the distance between its strikes, is a lower bound, and the buying price of one below an upper bound. Parity converts puts to calls.
 */
export function verticalBounds({ callPut, moneyness, price, halfWidth }: QuoteBands, strike: number) {
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
