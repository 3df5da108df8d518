import { closeOf, lastQuoted, newYorkDate, newYorkInstant, openOf, previousTradingDay } from './calendar.ts';

/**
 * Which moments of the simulated market are kept. The simulated market has quotes once a minute. Keeping every snapshot would fill a disk
 * within weeks, and each snapshot can be computed again. A ticker keeps:
 *
 * - the snapshots of the last ten minutes, so that a page can ask for further figures of the snapshot that it shows;
 * - of the last five trading days, the snapshots of the half hours: at the open, at 10:00, 10:30, … and at the close;
 * - of every earlier day, the last snapshot.
 *
 * The levels of these snapshots are kept, and all other levels are removed.
 */

/** The simulated market has quotes once in this time, ms. */
export const MINUTE_MS = 60_000;
/** Opens, closes and everything between them are on a grid of half hours. */
export const HALF_HOUR_MS = 30 * MINUTE_MS;
/** Time for which every snapshot is kept, ms. */
const ALL_KEPT_MS = 10 * MINUTE_MS;
/** Number of trading days whose half hours are kept, the present or last one included. */
const HALF_HOUR_DAYS = 5;
/** Number of trading days whose closes are computed for the past, the present or last one included. */
const CLOSE_DAYS = 60;

/** What is kept of a ticker, depending on the moment of its newest snapshot. The fields are moments, ms since the epoch. */
export interface SimulatedRetention {
  /** From this moment on, every snapshot is kept. */
  readonly allFrom: number;
  /** From this moment on, the snapshots of the half hours are kept. */
  readonly halfHoursFrom: number;
}

/** Returns what is kept of a ticker whose newest snapshot has the moment `newest`. */
export function simulatedRetention(newest: number): SimulatedRetention {
  const first = tradingDaysTo(newest, HALF_HOUR_DAYS).at(-1)!;
  return { allFrom: newest - ALL_KEPT_MS, halfHoursFrom: newYorkInstant(first, '00:00') };
}

/** Returns the moment of the newest quotes of the simulated market at `nowMs`: the present minute, or the last close. */
export function newestSimulated(nowMs: number): number {
  return Math.floor(lastQuoted(nowMs) / MINUTE_MS) * MINUTE_MS;
}

/**
 * Returns the moments of the past that a new store gets, the newest first: the half hours of the last five trading days and the closes of
 * the last 60, before the moment `newest` of the newest quotes.
 */
export function pastMoments(newest: number): number[] {
  return tradingDaysTo(newest, CLOSE_DAYS)
    .flatMap((date, i) => (i < HALF_HOUR_DAYS ? halfHoursOf(date) : [closeOf(date)]))
    .filter((moment) => moment < newest);
}

/** Returns the half hours of a trading day, from the close back to the open. */
function halfHoursOf(date: string): number[] {
  const [open, close] = [openOf(date), closeOf(date)];
  return Array.from({ length: (close - open) / HALF_HOUR_MS + 1 }, (_, i) => close - i * HALF_HOUR_MS);
}

/** Returns the last `count` trading days up to the moment of some quotes, the newest first. */
function tradingDaysTo(quotedAt: number, count: number): string[] {
  const days = [newYorkDate(lastQuoted(quotedAt))];
  while (days.length < count) days.push(previousTradingDay(days.at(-1)!));
  return days;
}
