import { byRange, type Steps } from '../../core/steps.ts';
import type { Pairs } from '../chain/prepared-chain.ts';

/** The strikes of a chain, ascending, each once, and the index of each pair's strike. */
type StrikeIndex = Readonly<{ strike: Float64Array; index: Uint32Array }>;

const STEP_PAIRS = 32_768;

/** Returns the strike index of pairs. The result is cached by `pairs`, because it does not depend on the dealer sign. */
export function* strikeIndex(pairs: Pairs): Steps<StrikeIndex> {
  const known = cache.get(pairs);
  if (known) return known;
  const strike = distinct(pairs.strike);
  if (pairs.count > STEP_PAIRS) yield { message: 'Ordering strikes' };
  const index = new Uint32Array(pairs.count);
  let i = 0;
  yield* byRange(pairs.count, STEP_PAIRS, 'Ordering strikes', (from, to) => {
    for (let pair = from; pair < to; pair++) {
      const price = pairs.strike[pair]!;
      // Strikes ascend within a series, so the code first tries the strike that follows the previous pair's strike.
      if (strike[i] !== price && strike[++i] !== price) i = firstAtLeast(strike, price);
      index[pair] = i;
    }
  });
  const result = { strike, index };
  cache.set(pairs, result);
  return result;
}

const cache = new WeakMap<Pairs, StrikeIndex>();

/** Returns the distinct values in ascending order. */
export function distinct(values: Float64Array): Float64Array {
  const sorted = values.slice().sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (count === 0 || sorted[i] !== sorted[count - 1]) sorted[count++] = sorted[i]!;
  }
  // Returns a copy, because a cached view would keep the whole array in memory.
  return sorted.slice(0, count);
}

/** Returns the index of the first of ascending values, in [low, high), that is at least `value`, or `high`. */
export function firstAtLeast(ascending: ArrayLike<number>, value: number, low = 0, high = ascending.length): number {
  while (low < high) {
    const half = (low + high) >> 1;
    if (ascending[half]! < value) low = half + 1;
    else high = half;
  }
  return low;
}
