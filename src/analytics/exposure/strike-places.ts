import { byRange, type Steps } from '../../steps.ts';
import type { Pairs } from '../chain/prepared-chain.ts';

/** The strikes of a chain over all series, and the position of each pair's strike among them. */
export interface StrikePlaces {
  /** Ascending, each once. */
  readonly strike: Float64Array;
  /** By pair: position in `strike`. */
  readonly place: Uint32Array;
}

const STEP_PAIRS = 32_768;

/** Cached by pairs, since the result does not depend on the sign convention. */
export function* strikePlacesInSteps(pairs: Pairs): Steps<StrikePlaces> {
  const known = found.get(pairs);
  if (known) return known;
  const strike = distinct(pairs.strike);
  if (pairs.count > STEP_PAIRS) yield { message: 'Ordering strikes' };
  const place = new Uint32Array(pairs.count);
  let at = 0;
  yield* byRange(pairs.count, STEP_PAIRS, 'Ordering strikes', (from, to) => {
    for (let pair = from; pair < to; pair++) {
      const its = pairs.strike[pair]!;
      // Strikes ascend within a series, so the next pair usually has the next strike.
      if (strike[at] !== its && strike[++at] !== its) at = placeOf(strike, its);
      place[pair] = at;
    }
  });
  const places = { strike, place };
  found.set(pairs, places);
  return places;
}

const found = new WeakMap<Pairs, StrikePlaces>();

/** Ascending, each value once. */
export function distinct(values: Float64Array): Float64Array {
  const sorted = values.slice().sort();
  let count = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (count === 0 || sorted[at] !== sorted[count - 1]) sorted[count++] = sorted[at]!;
  }
  // A copy of the used part only, because the cache holds it.
  return sorted.slice(0, count);
}

function placeOf(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const half = (low + high) >> 1;
    if (ascending[half]! < value) low = half + 1;
    else high = half;
  }
  return low;
}
