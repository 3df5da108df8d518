import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { type Density, densityOf } from './density.ts';

export interface DensityProbability {
  /** Of ending at or below, 0 to 1. */
  readonly below: number;
  /** The larger of both expiries', vol points. */
  readonly fitError: number;
}

/**
 * What the fitted densities themselves say of ending at or below a log-moneyness ln(K/F) after `tte` years: those of the expiries
 * before and after at as many at-the-money standard deviations from the forward's median, mixed by time. Both fall with the
 * strike, so their mixture does; of a flat smile it is the lognormal's, whatever its volatility at either. Null before the
 * first expiry and after the last.
 */
export function densityProbability(
  prepared: PreparedChain,
  logMoneyness: number,
  tte: number,
): DensityProbability | null {
  const known = prepared.series.filter(({ smile }) => smile.logMoneyness.length > 0).toSorted((a, b) => a.tte - b.tte);
  const after = known.find((series) => series.tte >= tte);
  const before = known.findLast((series) => series.tte <= tte);
  if (!before || !after) return null;
  const share = after.tte > before.tte ? (tte - before.tte) / (after.tte - before.tte) : 0;
  const mixed = (near: number, far: number) => near + share * (far - near);
  const [near, far] = [before, after].map((series) => densityOf(prepared, series)) as [Density, Density];
  const deviation = ({ atmIv }: Density, { tte: its }: PreparedSeries) => atmIv * Math.sqrt(its);
  const [nearDeviation, farDeviation] = [deviation(near, before), deviation(far, after)];
  const here = Math.sqrt(mixed(nearDeviation ** 2, farDeviation ** 2));
  const deviations = logMoneyness / here + here / 2;
  const below = ({ cdf, forward }: Density, its: number) => cdf(forward * Math.exp(deviations * its - its ** 2 / 2));
  return {
    below: Math.min(mixed(below(near, nearDeviation), below(far, farDeviation)), 1),
    fitError: Math.max(near.fitError, far.fitError),
  };
}
