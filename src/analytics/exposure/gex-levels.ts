import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { type Exposures, exposures, gexByContract } from './exposures.ts';
import { type GammaFlip, gammaFlip } from './gamma-flip.ts';
import { maxPain } from './max-pain.ts';
import { strikeGamma, type Walls, walls } from './walls.ts';

/** The structure that open options put around a price. Dollars; net, flip and walls over all prepared expiries. */
export interface GexLevels {
  readonly exposures: Exposures;
  readonly walls: Walls;
  readonly flip: GammaFlip;
  /** The series that matters most, and how it was chosen. */
  readonly dominant: PreparedSeries;
  readonly dominantBy: 'large_prints' | 'gamma';
  /** At the dominant series. */
  readonly maxPain: number;
}

/**
 * Levels of a prepared chain. `premiumBySeries` (`ROOT EXPIRY` to dollars of large prints) chooses the dominant series where
 * it names a live one; otherwise the series with most gamma does: by open interest alone LEAPS would win everywhere.
 */
export function gexLevels(prepared: PreparedChain, premiumBySeries: ReadonlyMap<string, number>): GexLevels {
  // Where nothing is open there is no pain to be least.
  const isOpen = ({ start, end }: PreparedSeries) => prepared.weight.subarray(start, end).some((each) => each > 0);
  const byPremium = largestSeries(
    prepared.series.filter(isOpen),
    ({ series }) => premiumBySeries.get(`${series.root} ${series.expiry}`) ?? 0,
  );
  const dominant = byPremium ?? largestSeries(prepared.series, grossGammaOf(prepared)) ?? prepared.series[0]!;
  return {
    exposures: exposures(prepared),
    walls: walls(strikeGamma(prepared), prepared.chain.spot),
    flip: gammaFlip(prepared),
    dominant,
    dominantBy: byPremium ? 'large_prints' : 'gamma',
    maxPain: maxPain(prepared, dominant),
  };
}

function grossGammaOf(prepared: PreparedChain): (series: PreparedSeries) => number {
  const gex = gexByContract(prepared);
  return ({ start, end }) => {
    let sum = 0;
    for (let at = start; at < end; at++) sum += Math.abs(gex[at]!);
    return sum;
  };
}

/** The series of largest value, the earliest on a tie; undefined where none is above zero. */
function largestSeries(
  series: readonly PreparedSeries[],
  value: (series: PreparedSeries) => number,
): PreparedSeries | undefined {
  let best: PreparedSeries | undefined;
  let most = 0;
  for (const each of series) {
    const its = value(each);
    if (its > most) [best, most] = [each, its];
  }
  return best;
}
