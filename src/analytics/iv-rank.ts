/** Where a volatility stands among those of the year before. Percent. Null if too few days are known. */
export interface IvRank {
  /** (now - low) / (high - low). Null also if all days are equal. */
  readonly rank: number | null;
  /** Share of the known days, including the present day, whose volatility was lower. */
  readonly percentile: number | null;
  /** Days with a volatility. */
  readonly days: number;
  /** Smallest and largest volatility of these days. Null if there are none. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A month of trading days: fewer do not give a rank. */
const DAYS_MIN = 20;

/** Ranks the last of a year's daily volatilities, oldest first. A day without a volatility is null. */
export function ivRank(volatilities: readonly (number | null)[]): IvRank {
  const known = volatilities.filter((each) => each !== null);
  const days = known.length;
  if (days === 0) return { rank: null, percentile: null, days, low: null, high: null };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const now = volatilities.at(-1) ?? null;
  if (now === null || days < DAYS_MIN) return { rank: null, percentile: null, days, low, high };
  return {
    rank: high > low ? (100 * (now - low)) / (high - low) : null,
    percentile: (100 * known.filter((each) => each < now).length) / days,
    days,
    low,
    high,
  };
}
