import type { PreparedSeries, Smile } from './prepared-chain.ts';

/**
 * Returns the total variance at a log-moneyness ln(K/F). The total variance is linear between the strikes of the smile, and constant beyond
 * the outermost strikes. The smile must not be empty.
 */
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

/** Returns the at-the-money volatility of a series, decimal per year, or `NaN` if no strike has a volatility. */
export function atmVolatility(series: PreparedSeries): number {
  return series.smile.logMoneyness.length === 0 ? Number.NaN : Math.sqrt(varianceAt(series.smile, 0) / series.tte);
}
