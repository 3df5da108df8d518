/** The rank of a day's volatility among the volatilities of the last year, in percent. */
export interface IvRank {
  /** 100 (now - low) / (high - low). Null if too few volatilities or not the last one are known, or if all are equal. */
  readonly rank: number | null;
  /**
   * The percentage of the days with a known volatility on which it was lower than on the last day. The last day counts as one of these
   * days. Null if too few volatilities or not the last one are known.
   */
  readonly percentile: number | null;
  /** The number of days whose volatility is known. */
  readonly days: number;
  /** Smallest and largest known volatility. Null if no volatility is known. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A rank needs at least this many days with a known volatility, about a month of trading days. */
const DAYS_MIN = 20;

/** Ranks the last of a year's daily volatilities. `volatilities` starts with the oldest day. An unknown volatility is null. */
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
