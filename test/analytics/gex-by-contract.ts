import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { gexScale } from '../../src/analytics/exposure/gex-by-series.ts';

/** Returns the GEX of each contract, dollars per 1 % move: gamma * contracts held * multiplier * spot^2 * 0.01. */
export function gexByContract({
  chain,
  count,
  gamma,
  position,
  multiplier,
}: Pick<PreparedChain, 'chain' | 'count' | 'gamma' | 'position' | 'multiplier'>): Float64Array {
  const scale = gexScale(chain);
  const gex = new Float64Array(count);
  for (let i = 0; i < count; i++) gex[i] = position[i]! * gamma[i]! * multiplier[i]! * scale;
  return gex;
}
