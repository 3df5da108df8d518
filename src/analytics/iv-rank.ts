/** The rank of a day's volatility among the volatilities of the last year, in percent. */
export interface IvRank {
  /** 100 (now - low) / (high - low). Null if too few days are known, the last day is not known, or all volatilities are equal. */
  readonly rank: number | null;
  /**
   * The percentage of the known days, including the last day, whose volatility was lower. Null if too few days are known, or the last day
   * is not known.
   */
  readonly percentile: number | null;
  /** The number of days whose volatility is known. */
  readonly days: number;
  /** Smallest and largest volatility of these days. Null if no day is known. */
  readonly low: number | null;
  readonly high: number | null;
}

/** The least number of known days for a rank, about a month of trading days. */
const DAYS_MIN = 20;

/** Ranks the last of a year's daily volatilities. The first element is the oldest. A day whose volatility is not known is null. */
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
