import type { Close } from '../market/prints.ts';

const TRADING_DAYS_A_YEAR = 252;

/** Returns the annualised volatility of the last `days` daily log returns around a mean of 0, or null if there are fewer returns. */
export function realisedVolatility(closes: readonly Close[], days: number): number | null {
  const returns = logReturns(closes.map(({ close }) => close)).slice(-days);
  if (returns.length < days) return null;
  return Math.sqrt((returns.reduce((sum, each) => sum + each * each, 0) / days) * TRADING_DAYS_A_YEAR);
}

/** Returns the correlation of daily log returns over the common days, or null for fewer than `closesMin` days or without variance. */
export function returnCorrelation(a: readonly Close[], b: readonly Close[], closesMin: number): number | null {
  const ofB = new Map(b.map(({ date, close }) => [date, close]));
  const common = a.flatMap(({ date, close }) => (ofB.has(date) ? [[close, ofB.get(date)!] as const] : []));
  if (common.length < closesMin) return null;
  const x = logReturns(common.map(([close]) => close));
  const y = logReturns(common.map(([, close]) => close));
  const [meanX, meanY] = [mean(x), mean(y)];
  let xy = 0;
  let xx = 0;
  let yy = 0;
  x.forEach((each, i) => {
    xy += (each - meanX) * (y[i]! - meanY);
    xx += (each - meanX) ** 2;
    yy += (y[i]! - meanY) ** 2;
  });
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;
}

/** Returns the mean daily volume in shares, over days with a known volume. Returns null if no volume is known. */
export function averageVolume(closes: readonly Close[]): number | null {
  const known = closes.flatMap(({ volume }) => (volume === null ? [] : [volume]));
  return known.length > 0 ? mean(known) : null;
}

function logReturns(closes: readonly number[]): number[] {
  return closes.slice(1).map((close, i) => Math.log(close / closes[i]!));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
