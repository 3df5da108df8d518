import { runToCompletion, type Steps } from '../../steps.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { type Exposures, exposuresInSteps } from './dollar-exposures.ts';
import { type GammaFlip, gammaFlipInSteps } from './gamma-flip.ts';
import { gexBySeries } from './gex-by-series.ts';
import { maxPain } from './max-pain.ts';
import { strikeGammaInSteps, type Walls, walls } from './walls.ts';

/** The levels that open options put around a price. Dollars. Net GEX, flip and walls are over all prepared expiries. */
export interface GexLevels {
  readonly exposures: Exposures;
  readonly walls: Walls;
  readonly flip: GammaFlip;
  /** The dominant series, and how it was chosen. */
  readonly dominant: PreparedSeries;
  readonly dominantBy: 'large_prints' | 'gamma';
  /** Of the dominant series. */
  readonly maxPain: number;
}

/**
 * Levels of a prepared chain. `premiumBySeries` (`ROOT EXPIRY` to dollars of large prints) chooses the dominant series if it names a live
 * one. Otherwise the series with the most gamma is dominant. By open interest alone, LEAPS would always be.
 */
export function gexLevels(prepared: PreparedChain, premiumBySeries: ReadonlyMap<string, number>): GexLevels {
  return runToCompletion(gexLevelsInSteps(prepared, premiumBySeries));
}

export function* gexLevelsInSteps(
  prepared: PreparedChain,
  premiumBySeries: ReadonlyMap<string, number>,
): Steps<GexLevels> {
  // Without open contracts, no strike has a payout, so there is no max pain.
  const isOpen = ({ start, end }: PreparedSeries) => prepared.weight.subarray(start, end).some((each) => each > 0);
  const byPremium = largestSeries(
    prepared.series.filter(isOpen),
    ({ series }) => premiumBySeries.get(`${series.root} ${series.expiry}`) ?? 0,
  );
  const dominant = byPremium ?? mostGamma(prepared) ?? prepared.series[0]!;
  return {
    exposures: yield* exposuresInSteps(prepared),
    walls: walls(yield* strikeGammaInSteps(prepared), prepared.chain.spot),
    flip: yield* gammaFlipInSteps(prepared),
    dominant,
    dominantBy: byPremium ? 'large_prints' : 'gamma',
    maxPain: maxPain(prepared, dominant),
  };
}

function mostGamma(prepared: PreparedChain): PreparedSeries | undefined {
  const { gross } = gexBySeries(prepared);
  return largestSeries(prepared.series, (_, index) => gross[index]!);
}

/** The series with the largest value, the earliest on a tie. Returns `undefined` if no value is above zero. */
function largestSeries(
  series: readonly PreparedSeries[],
  value: (series: PreparedSeries, index: number) => number,
): PreparedSeries | undefined {
  let best: PreparedSeries | undefined;
  let most = 0;
  for (const [index, each] of series.entries()) {
    const amount = value(each, index);
    if (amount > most) [best, most] = [each, amount];
  }
  return best;
}
