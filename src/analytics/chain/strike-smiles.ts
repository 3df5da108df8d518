import type { Chain } from '../../market/chain.ts';
import type { Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import type { SeriesInput, StrikePairs } from './strikes.ts';

/** If at least this many strikes have a two-sided quote, the smile uses only these strikes. */
const BID_STRIKES_MIN = 5;

/**
 * Returns the smile of a series. The smile uses the strikes that have a volatility and whose quote is not stale. If enough of these strikes
 * have a two-sided quote, it uses only those. The volatility of an option without a bid may be wrong, and would then distort the wings of
 * the smile.
 */
export function smileOf(
  chain: Chain,
  { forward, tte }: SeriesInput,
  series: number,
  { seriesStart, strike, otmRow }: StrikePairs,
  iv: Float64Array,
  stale: ReadonlySet<number>,
): Smile {
  const [start, end] = [seriesStart[series]!, seriesStart[series + 1]!];
  const withVolatility = new Uint32Array(end - start);
  const withBid = new Uint32Array(end - start);
  let [knownCount, bidCount] = [0, 0];
  for (let i = start; i < end; i++) {
    const row = otmRow[i]!;
    if (Number.isNaN(iv[i]!) || stale.has(row)) continue;
    withVolatility[knownCount++] = i;
    if (!Number.isNaN(mid(chain, row))) withBid[bidCount++] = i;
  }
  const chosen = bidCount >= BID_STRIKES_MIN ? withBid.subarray(0, bidCount) : withVolatility.subarray(0, knownCount);
  const logMoneyness = new Float64Array(chosen.length);
  const totalVariance = new Float64Array(chosen.length);
  for (let i = 0; i < chosen.length; i++) {
    const row = chosen[i]!;
    logMoneyness[i] = Math.log(strike[row]! / forward);
    totalVariance[i] = iv[row]! * iv[row]! * tte;
  }
  return { logMoneyness, totalVariance };
}
