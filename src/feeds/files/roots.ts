import { nthWeekday } from '../../market/calendar.ts';
import { rootOf, rootOfTicker } from '../../market/option-symbol.ts';

/**
 * Returns the underlying with the most rows in a file. On a tie, returns the underlying that comes first in the file. If a file has a
 * single spot, it becomes a single chain, and `buildChain` rejects options of other underlyings.
 */
export function underlyingOfMost(rows: readonly { readonly root: string }[]): string {
  const counts = new Map<string, number>();
  for (const { root } of rows) {
    const { underlying } = rootOf(root);
    counts.set(underlying, (counts.get(underlying) ?? 0) + 1);
  }
  let most = '';
  for (const [underlying, count] of counts) if (count > (counts.get(most) ?? 0)) most = underlying;
  return most;
}

/**
 * Returns the root of an option without a symbol. Options of SPX, NDX and RUT that expire on a third Friday have the root of the index and
 * are AM-settled. Other options of SPX, NDX and RUT have a different root and are PM-settled.
 */
export function rootOn(ticker: string, expiry: string): string {
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  return weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
