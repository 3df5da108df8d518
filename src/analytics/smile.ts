import type { PreparedChain, PreparedSeries, Smile } from './prepared-chain.ts';

/** Total variance at a log-moneyness ln(K/F): linear between strikes, flat beyond. The smile must not be empty. */
export function varianceAt(smile: Smile, logMoneyness: number): number {
  const { logMoneyness: x, totalVariance: w } = smile;
  const last = x.length - 1;
  if (logMoneyness <= x[0]!) return w[0]!;
  if (logMoneyness >= x[last]!) return w[last]!;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const half = (low + high) >> 1;
    if (x[half]! <= logMoneyness) low = half;
    else high = half;
  }
  const share = (logMoneyness - x[low]!) / (x[high]! - x[low]!);
  return w[low]! + share * (w[high]! - w[low]!);
}

/** At-the-money volatility of a series, decimal per year; `NaN` where no strike has one. */
export function atmVolatility(series: PreparedSeries): number {
  return series.smile.logMoneyness.length === 0 ? Number.NaN : Math.sqrt(varianceAt(series.smile, 0) / series.tte);
}

/** What the chain implies between and beyond its expiries. */
export interface Surface {
  /** Total variance to `tte` years at a log-moneyness ln(K/F). */
  variance(logMoneyness: number, tte: number): number;
  /** ln(F/S) to `tte` years. */
  carry(tte: number): number;
  /** Continuous discount rate to `tte` years. */
  rate(tte: number): number;
}

/**
 * Total variance linear in time at fixed log-moneyness; before the first expiry and after the last, that expiry's volatility
 * (and its carry and discount per year). Undefined where no series has a volatility.
 */
export function surfaceOf(prepared: PreparedChain): Surface | undefined {
  const known = prepared.series
    .filter((series) => series.smile.logMoneyness.length > 0)
    .toSorted((a, b) => a.tte - b.tte);
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
  return {
    variance: (logMoneyness, tte) => linear(tte, (series) => varianceAt(series.smile, logMoneyness)),
    carry: (tte) => linear(tte, (series) => Math.log(series.forward / prepared.chain.spot)),
    rate: (tte) => linear(tte, (series) => series.rate * series.tte) / tte,
  };
}
