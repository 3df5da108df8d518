import { type IvRank, ivRank } from '../../analytics/iv-rank.ts';
import { memoize } from '../../core/cache.ts';
import { addDays, newYorkDate } from '../../market/calendar.ts';
import type { Market } from '../../market/market.ts';

/** Length of the period of the volatility rank, in New York days, including the last day. */
export const YEAR_DAYS = 365;

/** Ranks the volatility at 30 days of a ticker's levels of a moment among those of the year that ends with this moment. */
export function yearIvRank(ticker: string, levelsAt: number, market: Market): IvRank {
  return ivRank(market.volatilitiesOfDays(ticker, yearUntil(newYorkDate(levelsAt)), levelsAt));
}

/** Returns the days of the year that ends with a day, oldest first. */
const yearUntil = memoize(8, (last: string) =>
  Array.from({ length: YEAR_DAYS }, (_, i) => addDays(last, i + 1 - YEAR_DAYS)),
);
