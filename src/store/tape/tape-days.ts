import { memoize } from '../../core/cache.ts';
import { addDays, newYorkInstant } from '../../market/calendar.ts';
import { dayOf } from '../../market/tape-columns.ts';

/** The tape of one underlying, simulated or recorded. `simulated` is 0 or 1, as SQLite stores it. */
export interface TapeId {
  readonly simulated: number;
  readonly underlying: string;
}

/** Returns the id of a tape. Here, `simulated` is a boolean, as in `MarketStore`. */
export function tapeIdOf(underlying: string, simulated: boolean): TapeId {
  return { simulated: Number(simulated), underlying };
}

/** A New York day (`YYYY-MM-DD`) of a tape. Each part of a tape belongs to one day. */
export interface TapeDay extends TapeId {
  readonly day: string;
}

const RANGES_CACHED_MAX = 1_000;

/** Returns the first and the last millisecond of a New York day. */
export const rangeOfDay = memoize(RANGES_CACHED_MAX, (day: string): readonly [fromMs: number, toMs: number] => [
  newYorkInstant(day, '00:00'),
  newYorkInstant(addDays(day, 1), '00:00') - 1,
]);

/** The last moment whose New York day can be computed, because the year of a date has only four digits. */
export const LAST_DATED_MS = Date.UTC(9999, 0, 1);

/** Returns the last millisecond of the New York day of a moment. If the moment is `LAST_DATED_MS` or later, returns the moment itself. */
export function endOfDay(atMs: number): number {
  return atMs >= LAST_DATED_MS ? atMs : rangeOfDay(dayOf(Math.max(0, atMs)))[1];
}
