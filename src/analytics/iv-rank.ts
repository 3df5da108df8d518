/** The rank of a day's volatility among the volatilities of the last year, in percent. */
export interface IvRank {
  /** `100 (now - low) / (high - low)`. Null if too few volatilities are known, if the last volatility is unknown, or if all are equal. */
  readonly rank: number | null;
  /**
   * The percentage of the known daily volatilities that are below the last volatility. The known volatilities include the last volatility.
   * Null if too few volatilities are known, or if the last volatility is unknown.
   */
  readonly percentile: number | null;
  /** The number of days whose volatility is known. */
  readonly days: number;
  /** Smallest and largest known volatility. Null if no volatility is known. */
  readonly low: number | null;
  readonly high: number | null;
}

/** The number of known daily volatilities that a rank needs, about a month of trading days. */
const DAYS_MIN = 20;

/** Ranks the last volatility among the daily volatilities of a year. `volatilities` starts with the oldest day. Null means unknown. */
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
