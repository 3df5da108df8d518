import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import { skew25 } from '../../analytics/chain/skew.ts';
import { atmBand } from '../../analytics/chain/volatility-band.ts';
import { seriesAtm } from '../../analytics/surface/series-atm.ts';
import { finiteOrNull } from '../engine/schemas.ts';

/**
 * Returns the figures of one series that need no surface: its forward, volatility and skew, and the sums of its contracts. Prices are in
 * dollars, volatilities are decimals per calendar year. If the quotes do not determine a smile, the figures of the smile are null, and
 * `refused` has the reason.
 */
export function seriesFigures(prepared: PreparedChain, each: PreparedSeries) {
  const { iv, expectedMove, refused } = seriesAtm(prepared, each);
  const band = refused === null ? atmBand(prepared, each) : { bid: Number.NaN, ask: Number.NaN };
  return {
    root: each.series.root,
    expiry: each.series.expiry,
    settlement: each.series.settlement as string,
    forward: each.forward,
    ...contractsOf(prepared, each),
    atmIv: iv,
    atmIvBid: finiteOrNull(band.bid),
    atmIvAsk: finiteOrNull(band.ask),
    expectedMove,
    skew: refused === null ? skew25(each) : null,
    refused: refused as string | null,
  };
}

function contractsOf({ chain, row }: PreparedChain, { start, end }: PreparedSeries) {
  let [openInterest, volume] = [0, 0];
  for (let i = start; i < end; i++) {
    openInterest += chain.openInterest[row[i]!]! || 0;
    volume += chain.volume[row[i]!]! || 0;
  }
  return { openInterest, volume };
}
