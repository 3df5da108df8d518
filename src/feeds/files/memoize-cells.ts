import { memoize } from '../../core/cache.ts';

/**
 * Returns a function that calls `work` with cells and caches the results. The returned function takes the cells as a key, which is a text
 * with one cell per line. The cache is bounded, because strangers may have written the cells.
 */
export function memoizeCells<T>(work: (cells: readonly string[]) => T): (key: string) => T {
  // The code copies the text, because a cached substring would keep its whole piece of the file in memory.
  const cached = memoize(MEMOIZED_MAX, (key: string) => work(Buffer.from(key).toString().split('\n')));
  return (key) => (key.length > KEY_CHARS_MAX ? work(key.split('\n')) : cached(key));
}

/** Maximum length of a cached key, characters. Longer keys would exhaust the memory. Keys of market data are shorter. */
const KEY_CHARS_MAX = 200;
/** Maximum number of cached keys. On one day, fewer contracts than this maximum are traded often. */
export const MEMOIZED_MAX = 65_536;
