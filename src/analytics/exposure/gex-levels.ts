import type { Steps } from '../../core/steps.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { type Exposures, exposuresOf } from './dollar-exposures.ts';
import { type GammaFlip, gammaFlip } from './gamma-flip.ts';
import { gexBySeries } from './gex-by-series.ts';
import { maxPain } from './max-pain.ts';
import { signProbability } from './sign-probability.ts';
import { strikeGamma, type Walls, walls } from './walls.ts';

/** The levels of a chain in dollars, computed from all prepared series, with the gamma exposure of the chain. */
export interface LevelSet {
  readonly exposures: Pick<Exposures, 'gex' | 'grossGex' | 'signProbability'>;
  readonly walls: Walls;
  readonly flip: GammaFlip;
  readonly dominant: PreparedSeries;
  /** The reason why the series is dominant: the largest premium of large prints, or the most gamma. */
  readonly dominantBy: 'large_prints' | 'gamma';
  /** Max pain of the dominant series. */
  readonly maxPain: number;
}

/** The levels of a chain with all its exposures. */
export interface GexLevels extends LevelSet {
  readonly exposures: Exposures;
}

/** Computes the levels and the exposures of a prepared chain. `premiumBySeries` is as in `levelSet`. */
export function* gexLevels(prepared: PreparedChain, premiumBySeries: ReadonlyMap<string, number>): Steps<GexLevels> {
  const exposures = yield* exposuresOf(prepared);
  return { ...(yield* levelSet(prepared, premiumBySeries)), exposures };
}

/**
 * Computes the levels of a prepared chain. `premiumBySeries` is the premium of large prints, dollars, by `ROOT EXPIRY`. The series with
 * open contracts and the largest premium is dominant, or without premiums the series with the most gamma. By open interest, LEAPS would
 * always be.
 */
export function* levelSet(prepared: PreparedChain, premiumBySeries: ReadonlyMap<string, number>): Steps<LevelSet> {
  // A series without open contracts pays out nothing at any strike, so the series has no max pain.
  const isOpen = ({ start, end }: PreparedSeries) => prepared.weight.subarray(start, end).some((each) => each > 0);
  const byPremium = largestSeries(
    prepared.series.filter(isOpen),
    ({ series }) => premiumBySeries.get(`${series.root} ${series.expiry}`) ?? 0,
  );
  const dominant = byPremium ?? mostGamma(prepared) ?? prepared.series[0]!;
  const { netOfAll, grossOfAll } = gexBySeries(prepared);
  return {
    exposures: { gex: netOfAll, grossGex: grossOfAll, signProbability: signProbability(prepared) },
    walls: walls(yield* strikeGamma(prepared), prepared.chain.spot),
    flip: yield* gammaFlip(prepared),
    dominant,
    dominantBy: byPremium ? 'large_prints' : 'gamma',
    maxPain: maxPain(prepared, dominant),
  };
}

function mostGamma(prepared: PreparedChain): PreparedSeries | undefined {
  const { gross } = gexBySeries(prepared);
  return largestSeries(prepared.series, (_, index) => gross[index]!);
}

/** Returns the series with the largest value. On a tie, returns the first tied series. Returns `undefined` if no value is positive. */
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
