import { exposuresByStrike } from '../analytics/exposure/exposures-by-strike.ts';
import { runToCompletion } from '../core/steps.ts';
import { type GexAnalysis, profileAround } from './gex-analysis.ts';
import type { GexPicture } from './plot/gex-plot.ts';
import type { Level } from './plot/level.ts';

/** Selects the values of an analysis that the plot shows. */
export function gexPicture({ prepared, report }: GexAnalysis): GexPicture {
  const { strike, netGex } = runToCompletion(exposuresByStrike(prepared));
  const spot: Level = { name: 'spot', price: report.spot_price };
  const flip: Level = { name: 'flip', price: report.gex_flip };
  const levels = [
    spot,
    { name: 'call wall', price: report.call_wall },
    { name: 'put wall', price: report.put_wall },
    ...(report.flip_resolved ? [flip] : []),
    { name: 'max pain', price: report.max_pain },
  ];
  return {
    ticker: report.ticker,
    simulated: report.simulated,
    strikes: { spot: spot.price, strike, net: netGex, levels },
    profile: {
      ...profileAround(prepared),
      annotations: report.flip_resolved ? [spot, flip] : [spot],
    },
  };
}
