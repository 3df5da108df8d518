import { quotedRange, type SurfaceSlice } from '../../../src/analytics/surface/fitted-surface.ts';

/**
 * Returns the number of a settlement's quotes from `from` to `to` standard deviations from the forward, and how many of them contain the
 * fitted price.
 */
export function withinBands(
  { law, quotes, atmVariance }: SurfaceSlice,
  from = 0,
  to = 3,
): { within: number; count: number } {
  let [within, count] = [0, 0];
  for (const [i, moneyness] of quotes.moneyness.entries()) {
    const distance = Math.abs(Math.log(moneyness)) / Math.sqrt(atmVariance);
    if (distance < from || distance > to) continue;
    count++;
    const error = Math.abs(law.price(quotes.callPut[i]!, moneyness) - quotes.price[i]!);
    if (error <= 1.0001 * quotes.halfWidth[i]!) within++;
  }
  return { within, count };
}

/** The bounds that the two adjacent quotes of its side set for the probability of ending beyond a strike. */
export interface AdjacentVerticals {
  /** +1 above the forward, -1 below. */
  readonly side: 1 | -1;
  /** Strike over forward. */
  readonly strike: number;
  readonly least: number;
  readonly most: number;
}

/** Returns the bounds at each quoted strike of a settlement that is 0.3 to 3.2 standard deviations from the forward. */
export function adjacentVerticals({ quotes, atmVariance }: SurfaceSlice): AdjacentVerticals[] {
  const { callPut, moneyness, price, halfWidth } = quotes;
  const bid = (row: number) => price[row]! - halfWidth[row]!;
  const ask = (row: number) => price[row]! + halfWidth[row]!;
  return ([1, -1] as const).flatMap((side) => {
    const rows = [...moneyness.keys()]
      .filter((i) => callPut[i] === side)
      .sort((a, b) => side * (moneyness[a]! - moneyness[b]!));
    return rows.slice(1, -1).flatMap((own, i) => {
      const [near, far, strike] = [rows[i]!, rows[i + 2]!, moneyness[own]!];
      const distance = Math.abs(Math.log(strike)) / Math.sqrt(atmVariance);
      if (distance < 0.3 || distance > 3.2) return [];
      const least = (bid(own) - ask(far)) / Math.abs(moneyness[far]! - strike);
      const most = (ask(near) - bid(own)) / Math.abs(strike - moneyness[near]!);
      return [{ side, strike, least, most }];
    });
  });
}

/** Returns how many of a settlement's bounds a probability of ending beyond a strike misses. */
export function outsideVerticals(
  slice: SurfaceSlice,
  beyond: (side: 1 | -1, strike: number) => number,
): { outside: number; count: number } {
  const bounds = adjacentVerticals(slice);
  const outside = bounds.filter(({ side, strike, least, most }) => {
    const probability = beyond(side, strike);
    return probability < least - 1e-9 || probability > most + 1e-9;
  });
  return { outside: outside.length, count: bounds.length };
}

/** Adds up the counts of several settlements. */
export function sumCounts<Name extends string>(counts: readonly Record<Name, number>[]): Record<Name, number> {
  const sum = { ...counts[0]! };
  for (const each of counts.slice(1)) for (const name of Object.keys(sum) as Name[]) sum[name] += each[name];
  return sum;
}

/** The distance between points where a density is looked at, and the share by which it may rise from one to the next, by rounding. */
const HUMP_STEP = 0.05;
const HUMP_SHARE = 1e-3;

/** Returns the log-moneyness, in standard deviations, of points beyond the outermost quotes where the density of the log-price rises again. */
export function humps(slice: SurfaceSlice): number[] {
  const deviation = Math.sqrt(slice.atmVariance);
  const density = (z: number) => slice.law.density(Math.exp(z * deviation)) * Math.exp(z * deviation);
  return quotedRange(slice).flatMap((edge, i) => {
    const side = i === 0 ? -1 : 1;
    const found: number[] = [];
    let before = density(edge / deviation);
    for (let z = edge / deviation; before > 1e-200; z += side * HUMP_STEP) {
      const own = density(z);
      if (own > before * (1 + HUMP_SHARE)) found.push(z);
      before = own;
    }
    return found;
  });
}
