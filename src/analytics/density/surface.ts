import type { Steps } from '../../steps.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { densityInSteps, densityOf } from './density.ts';

/** The variance that a chain implies at any strike and time. At each expiry, the surface is free of arbitrage between strikes. */
export interface VolatilitySurface {
  /** Returns the total variance over `tte` years at a log-moneyness ln(K/F). */
  variance(logMoneyness: number, tte: number): number;
  /** Returns ln(F/S), where F is the forward in `tte` years. */
  carry(tte: number): number;
  /** Returns the continuous discount rate over `tte` years. */
  rate(tte: number): number;
}

/**
 * Returns the surface of a chain, or `undefined` if no series has a volatility. At an expiry, the surface has the variance that the fitted
 * density of the series implies. Between two expiries, the variance is linear in time at each log-moneyness. Before the first expiry, the
 * volatility is that of the first expiry. After the last expiry, it is that of the last expiry at the same number of standard deviations,
 * because the slope of a smile falls with the root of time. Before the first and after the last expiry, carry and discount rate per year
 * are those of that expiry.
 *
 * The surface does not use the quoted smile. The quoted variances of neighbouring strikes are noisy, and the noise could make the
 * probability of ending above a strike rise with the strike. In a smile that comes from a density, both d1 and d2 fall with the strike
 * (Fukasawa 2012).
 */
export function surfaceOf(prepared: PreparedChain): VolatilitySurface | undefined {
  const known = seriesWithSmile(prepared);
  if (known.length === 0) return undefined;
  const linear = (tte: number, value: (series: PreparedSeries) => number): number => {
    const next = known.findIndex((series) => series.tte >= tte);
    if (next <= 0) {
      const edge = next === 0 ? known[0]! : known[known.length - 1]!;
      return (value(edge) * tte) / edge.tte;
    }
    const [before, after] = [known[next - 1]!, known[next]!];
    const share = (tte - before.tte) / (after.tte - before.tte);
    return value(before) + share * (value(after) - value(before));
  };
  const last = known[known.length - 1]!.tte;
  return {
    variance: (logMoneyness, tte) => {
      const x = logMoneyness / Math.sqrt(Math.max(tte / last, 1));
      return linear(tte, (series) => densityOf(prepared, series).totalVariance(x));
    },
    carry: (tte) => linear(tte, (series) => Math.log(series.forward / prepared.chain.spot)),
    rate: (tte) => linear(tte, (series) => series.rate * series.tte) / tte,
  };
}

/** Fits the densities that the surface and `densityProbability` need at `tte` years. Later calls find the densities in the cache. */
export function* fitDensitiesAround(prepared: PreparedChain, tte: number): Steps<void> {
  const known = seriesWithSmile(prepared);
  const after = known.find((series) => series.tte >= tte) ?? known.at(-1);
  const before = known.findLast((series) => series.tte < tte);
  const within = known.findLast((series) => series.tte <= tte);
  for (const series of new Set([before, within, after])) if (series) yield* densityInSteps(prepared, series);
}

/** Returns the series that have a smile, ordered by time to settlement. */
function seriesWithSmile({ series }: PreparedChain): PreparedSeries[] {
  return series.filter(({ smile }) => smile.logMoneyness.length > 0).toSorted((a, b) => a.tte - b.tte);
}
