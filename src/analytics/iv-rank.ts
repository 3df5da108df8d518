/** The rank of a day's volatility among the volatilities of the last year, in percent. */
export interface IvRank {
  /** `100 (now - low) / (high - low)`. Null if too few volatilities are known, if the last volatility is unknown, or if all are equal. */
  readonly rank: number | null;
  /** The percentage of the other known daily volatilities that are below the last one, 0 to 100. Null as for `rank`. */
  readonly percentile: number | null;
  /** The number of days whose volatility is known. */
  readonly days: number;
  /** Smallest and largest known volatility. Null if no volatility is known. */
  readonly low: number | null;
  readonly high: number | null;
}

/** The number of known daily volatilities that a rank needs, about a month of trading days. */
const DAYS_MIN = 20;

/** The known daily volatilities of a period. `low` and `high` are infinite if no volatility is known. */
export type IvRange = Readonly<{ low: number; high: number; days: number }>;

export function ivRange(volatilities: readonly (number | null)[]): IvRange {
  const known = volatilities.filter((each) => each !== null);
  return { low: Math.min(...known), high: Math.max(...known), days: known.length };
}

/** Ranks a day's volatility among those of the earlier days of a year. Null means unknown. */
export function rankAmong(earlier: IvRange, now: number | null): Pick<IvRank, 'rank' | 'days'> {
  if (now === null) return { rank: null, days: earlier.days };
  const days = earlier.days + 1;
  const [low, high] = [Math.min(earlier.low, now), Math.max(earlier.high, now)];
  return { rank: days >= DAYS_MIN && high > low ? (100 * (now - low)) / (high - low) : null, days };
}

/** Ranks the last volatility among the daily volatilities of a year. `volatilities` starts with the oldest day. Null means unknown. */
export function ivRank(volatilities: readonly (number | null)[]): IvRank {
  const known = volatilities.filter((each) => each !== null);
  const { low, high } = ivRange(known);
  const now = volatilities.at(-1) ?? null;
  const { rank, days } = rankAmong(ivRange(volatilities.slice(0, -1)), now);
  if (days === 0) return { rank, percentile: null, days, low: null, high: null };
  const isRanked = now !== null && days >= DAYS_MIN;
  const percentile = isRanked ? (100 * known.filter((each) => each < now).length) / (days - 1) : null;
  return { rank, percentile, days, low, high };
}
