import { memoize } from '../../core/cache.ts';
import { isDate, nthWeekday } from '../../market/calendar.ts';
import { canonicalTicker, isTicker, rootOf, rootOfTicker } from '../../market/option-symbol.ts';

const TICKERS_CACHED_MAX = 4_096;

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

/** Returns the ticker of a root or of a ticker in any spelling. */
export const tickerOf: (text: string) => string = memoize(TICKERS_CACHED_MAX, (text) => {
  const ticker = canonicalTicker(text);
  return isTicker(ticker) ? rootOf(rootOfTicker(ticker)).underlying : ticker;
});

/**
 * Returns the series of an option without a symbol, or `undefined`. SPX, NDX and RUT options have the index as root only on a third Friday.
 */
export function seriesOf(cell: string, expiry: string) {
  const ticker = canonicalTicker(cell);
  if (!isTicker(ticker) || !isDate(expiry)) return undefined;
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  const root = weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
  return { root, underlying: rootOf(root).underlying, expiry };
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
