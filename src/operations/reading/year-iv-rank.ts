import { type IvRange, type IvRank, ivRange, ivRank, rankAmong } from '../../analytics/iv-rank.ts';
import { memoize } from '../../core/cache.ts';
import { addDays, newYorkDate } from '../../market/calendar.ts';
import type { Market } from '../../market/market.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';

/** Length of the period for the volatility rank, New York days. The last day counts. */
export const YEAR_DAYS = 365;

/** Computes the rank of a 30-day volatility among the ticker's 30-day volatilities of the preceding year. */
export function yearIvRank(ticker: string, levelsAt: number, market: Market): IvRank {
  return ivRank(market.volatilitiesOfDays(ticker, yearUntil(newYorkDate(levelsAt)), levelsAt));
}

/** Computes the rank of a ticker's newest 30-day volatility. The volatilities of earlier days are read once, as long as they do not change. */
export function newestIvRank({ underlying, asOf, day, atmIv30d, earlier }: NewestLevels, market: Market) {
  const read = () => ivRange(market.volatilitiesOfDays(underlying, yearUntil(day).slice(0, -1), asOf));
  return rankAmong(earlierRanges.getOrInsertComputed(earlier, read), atmIv30d);
}

/** The ranges of the volatilities of earlier days, by the field `earlier` of the newest levels. */
const earlierRanges = new WeakMap<object, IvRange>();

/** Returns the YEAR_DAYS days that end with the day `last`, the oldest day first. */
const yearUntil = memoize(8, (last: string) =>
  Array.from({ length: YEAR_DAYS }, (_, i) => addDays(last, i + 1 - YEAR_DAYS)),
);
