import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { type Density, densityOf } from './density.ts';

export interface DensityProbability {
  /** Probability of ending at or below the price, 0 to 1. */
  readonly below: number;
  /** The larger of the two expiries' fit errors, vol points. */
  readonly fitError: number;
}

/**
 * Returns the probability of ending at or below a log-moneyness ln(K/F) after `tte` years, from the fitted densities alone. It is
 * interpolated linearly in time between the expiries before and after `tte`. At each of them, the probability is taken at the same number
 * of at-the-money standard deviations from the median of a lognormal. Both probabilities rise with the strike, so the interpolated one does
 * too. If the smile is flat at both expiries, the result is that of a lognormal, even if the volatilities of the expiries differ. Returns
 * null before the first expiry and after the last.
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
  const interpolate = (near: number, far: number) => near + share * (far - near);
  const [near, far] = [before, after].map((series) => densityOf(prepared, series)) as [Density, Density];
  const deviation = ({ atmIv }: Density, series: PreparedSeries) => atmIv * Math.sqrt(series.tte);
  const [nearDeviation, farDeviation] = [deviation(near, before), deviation(far, after)];
  const mixedDeviation = Math.sqrt(interpolate(nearDeviation ** 2, farDeviation ** 2));
  const deviations = logMoneyness / mixedDeviation + mixedDeviation / 2;
  const below = ({ cdf, forward }: Density, s: number) => cdf(forward * Math.exp(deviations * s - s ** 2 / 2));
  return {
    below: Math.min(interpolate(below(near, nearDeviation), below(far, farDeviation)), 1),
    fitError: Math.max(near.fitError, far.fitError),
  };
}
