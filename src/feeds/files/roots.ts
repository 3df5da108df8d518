import { nthWeekday } from '../../market/calendar.ts';
import { rootOf, rootOfTicker } from '../../market/option-symbol.ts';

/** Returns the underlying with the most rows in a file, on a tie the first. A file with a single spot is a single chain. */
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

/** Returns the root of an option without a symbol. Only options of SPX, NDX and RUT of a third Friday (AM) have the index as their root. */
export function rootOn(ticker: string, expiry: string): string {
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  return weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
