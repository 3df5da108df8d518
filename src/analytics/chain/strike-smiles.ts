import type { Chain } from '../../market/chain.ts';
import type { Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import type { SeriesInput, StrikePairs } from './strikes.ts';

/** If at least this many strikes have a bid, the smile uses only these. */
const BID_STRIKES_MIN = 5;

/**
 * The smile of a series: its strikes that have a volatility and are not stale. If enough of them have a bid, only those: a volatility that
 * nobody bids for may be a sentinel, and bends the wings.
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
  const known = new Uint32Array(end - start);
  const bid = new Uint32Array(end - start);
  let [knowns, bids] = [0, 0];
  for (let at = start; at < end; at++) {
    const row = otmRow[at]!;
    if (Number.isNaN(iv[at]!) || stale.has(row)) continue;
    known[knowns++] = at;
    if (!Number.isNaN(mid(chain, row))) bid[bids++] = at;
  }
  const chosen = bids >= BID_STRIKES_MIN ? bid.subarray(0, bids) : known.subarray(0, knowns);
  const logMoneyness = new Float64Array(chosen.length);
  const totalVariance = new Float64Array(chosen.length);
  for (let each = 0; each < chosen.length; each++) {
    const at = chosen[each]!;
    logMoneyness[each] = Math.log(strike[at]! / forward);
    totalVariance[each] = iv[at]! * iv[at]! * tte;
  }
  return { logMoneyness, totalVariance };
}
