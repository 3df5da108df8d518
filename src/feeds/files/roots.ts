import { nthWeekday } from '../../market/calendar.ts';
import { rootOf, rootOfTicker } from '../../market/option-symbol.ts';

/**
 * The underlying of most rows of a file, the first one on a tie. A file with one spot is one chain: `buildChain` rejects options of other
 * underlyings.
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

/** The root of an option without a symbol. Of the large indices' options, only those of the third Friday are AM-settled. */
export function rootOn(ticker: string, expiry: string): string {
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  return weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
