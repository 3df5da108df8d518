import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { seriesSkew, seriesVolatility } from '../../analytics/surface/series-volatility.ts';
import { hasOpenInterest } from '../../market/chain.ts';
import { finiteOrNull } from '../engine/schemas.ts';

/**
 * Returns the figures of a series by API names, in dollars and decimals per calendar year. If the quotes determine no smile, `smile_refused`
 * has the reason, and the figures of the smile are null, but the volatility at the money can still be known. `open_interest` is null if the
 * chain has none. `surface` is that of the chain.
 */
export function seriesFigures(prepared: PreparedChain, surface: FittedSurface, each: PreparedSeries) {
  const { iv, band, expectedMove, straddle, refused } = seriesVolatility(surface, prepared, each);
  return {
    root: each.series.root,
    expiry: each.series.expiry,
    settlement: each.series.settlement,
    forward: each.forward,
    atm_iv: iv,
    atm_iv_bid: finiteOrNull(band.bid),
    atm_iv_ask: finiteOrNull(band.ask),
    expected_move: expectedMove,
    straddle_move: straddle,
    skew_25d: seriesSkew(surface, prepared, each),
    ...contractsOf(prepared, each),
    smile_refused: refused as string | null,
  };
}

function contractsOf({ chain, row }: PreparedChain, { start, end }: PreparedSeries) {
  const { openInterest, volume: traded } = chain;
  let [open, volume] = [0, 0];
  for (let i = start; i < end; i++) {
    open += openInterest[row[i]!]! || 0;
    volume += traded[row[i]!]! || 0;
  }
  return { open_interest: hasOpenInterest(chain) ? open : null, volume };
}
