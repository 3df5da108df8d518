import type { Steps } from '../../steps.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { densityInSteps, densityOf } from './density.ts';

/** The volatility that a chain implies at any strike and time. At each expiry it is free of arbitrage between strikes. */
export interface VolatilitySurface {
  /** Total variance to `tte` years at a log-moneyness ln(K/F). */
  variance(logMoneyness: number, tte: number): number;
  /** ln(F/S) to `tte` years. */
  carry(tte: number): number;
  /** Continuous discount rate to `tte` years. */
  rate(tte: number): number;
}

/**
 * The surface takes the implied variance of each series' fitted density, and interpolates linearly in time at fixed log-moneyness. Before
 * the first expiry it takes that expiry's volatility. After the last expiry it takes the last one's volatility at as many standard
 * deviations, because the slope of a smile falls with the root of time. Carry and discount per year stay those of the first or last
 * expiry. Returns `undefined` if no series has a volatility.
 *
 * The surface does not use the quoted smile. Each quoted strike has a variance of its own, and its noise makes the probability of ending
 * beyond a strike rise with the strike. In a smile that comes from a density, both d1 and d2 fall with the strike (Fukasawa 2012).
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

/** Fits the densities that the surface needs at `tte` years, and those of the two expiries around it. Later calls then find them cached. */
export function* fitDensitiesAround(prepared: PreparedChain, tte: number): Steps<void> {
  const known = seriesWithSmile(prepared);
  const after = known.find((series) => series.tte >= tte) ?? known.at(-1);
  const before = known.findLast((series) => series.tte < tte);
  const within = known.findLast((series) => series.tte <= tte);
  for (const series of new Set([before, within, after])) if (series) yield* densityInSteps(prepared, series);
}

/** Ordered by time to settlement. */
function seriesWithSmile({ series }: PreparedChain): PreparedSeries[] {
  return series.filter(({ smile }) => smile.logMoneyness.length > 0).toSorted((a, b) => a.tte - b.tte);
}
