import type { Pairs } from './prepared-chain.ts';

/** Gives each contract its pair's value. */
export function byContract(
  { count, contracts }: Pick<Pairs, 'count' | 'contracts'>,
  ofPairs: Float64Array,
): Float64Array {
  const all = new Float64Array(contracts[count]!);
  for (let pair = 0; pair < count; pair++) {
    for (let at = contracts[pair]!; at < contracts[pair + 1]!; at++) all[at] = ofPairs[pair]!;
  }
  return all;
}
