/** Where a volatility stands among those of the year before. Percent; null where too few days are known to tell. */
export interface IvRank {
  /** (now - low) / (high - low); null also where all days are alike. */
  readonly rank: number | null;
  /** Share of the known days, the present one among them, that were below it. */
  readonly percentile: number | null;
  /** Days with a volatility. */
  readonly days: number;
  /** Least and largest of them; null where there is none. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A month of trading days: the least a rank is told from. */
const DAYS_MIN = 20;

/** Rank of the last of a year's daily volatilities, oldest first; null where a day has none. */
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
