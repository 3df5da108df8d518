import { memoize } from '../../cache.ts';

/** Caches the results of `work`. `key` is the cells, one per line. The cache is bounded, because cells come from outside. */
export function memoizeCells<T>(work: (cells: readonly string[]) => T): (key: string) => T {
  // Copies the text, because a substring in the cache keeps the whole piece of the file in memory.
  const cached = memoize(MEMOIZED_MAX, (key: string) => work(Buffer.from(key).toString().split('\n')));
  return (key) => (key.length > KEY_CHARS_MAX ? work(key.split('\n')) : cached(key));
}

/** Cells of market data are shorter. Longer keys would exhaust the memory of the cache, so they are not cached. */
export const KEY_CHARS_MAX = 200;
/** More than the number of contracts that trade often on one day. */
export const MEMOIZED_MAX = 50_000;
