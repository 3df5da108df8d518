import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import { skew25 } from '../../analytics/chain/skew.ts';
import { atmBand } from '../../analytics/chain/volatility-band.ts';
import { seriesAtm } from '../../analytics/surface/quote-bands.ts';
import { hasOpenInterest } from '../../market/chain.ts';
import { finiteOrNull } from '../engine/schemas.ts';

/**
 * Returns the figures of a series that need no surface, by API names, in dollars and decimals per calendar year. If the quotes determine
 * no smile, the figures of the smile are null, and `smile_refused` has the reason. `open_interest` is null if the chain has none.
 */
export function seriesFigures(prepared: PreparedChain, each: PreparedSeries) {
  const { iv, expectedMove, refused } = seriesAtm(prepared, each);
  const band = refused === null ? atmBand(prepared, each) : { bid: Number.NaN, ask: Number.NaN };
  return {
    root: each.series.root,
    expiry: each.series.expiry,
    settlement: each.series.settlement,
    forward: each.forward,
    atm_iv: iv,
    atm_iv_bid: finiteOrNull(band.bid),
    atm_iv_ask: finiteOrNull(band.ask),
    expected_move: expectedMove,
    skew_25d: refused === null ? skew25(each) : null,
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
