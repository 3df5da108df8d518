import { closeOf, lastQuoted, newYorkDate, newYorkInstant, openOf, previousTradingDay } from './calendar.ts';

/**
 * The rules that decide which snapshots of the simulated market are kept. The simulated market has quotes once a minute. All snapshots
 * together would fill a disk within weeks, and the server can compute each snapshot again. For each ticker, the store keeps:
 *
 * - the snapshots of the last ten minutes, so that a page can ask for further figures of the snapshot that it shows;
 * - the half-hour snapshots of the last five trading days: at the open, at 10:00, 10:30, … and at the close;
 * - the last snapshot of every earlier day.
 *
 * The store keeps the levels of the kept snapshots, and removes all other levels.
 */

/** Interval between two quotes of the simulated market, ms. */
export const MINUTE_MS = 60_000;
/** Interval of the half-hour snapshots, ms. The exchange opens and closes at multiples of this interval. */
export const HALF_HOUR_MS = 30 * MINUTE_MS;
/** Age up to which every snapshot is kept, ms. */
const ALL_KEPT_MS = 10 * MINUTE_MS;
/** Number of trading days whose half-hour snapshots are kept. The trading day of the newest quotes is included. */
const HALF_HOUR_DAYS = 5;
/** Number of past trading days for which closes are computed. The trading day of the newest quotes is included. */
const CLOSE_DAYS = 60;

/** The retention of a ticker's snapshots, computed from the newest snapshot. The fields are moments, ms since the epoch. */
export interface SimulatedRetention {
  /** The moment from which every snapshot is kept. */
  readonly allFrom: number;
  /** The moment from which the half-hour snapshots are kept. */
  readonly halfHoursFrom: number;
}

/** Returns the retention for a ticker whose newest snapshot has the moment `newest`. */
export function simulatedRetention(newest: number): SimulatedRetention {
  const first = tradingDaysTo(newest, HALF_HOUR_DAYS).at(-1)!;
  return { allFrom: newest - ALL_KEPT_MS, halfHoursFrom: newYorkInstant(first, '00:00') };
}

/** Returns the moment of the simulated market's newest quotes at `nowMs`: the present minute, or the last close. */
export function newestSimulated(nowMs: number): number {
  return Math.floor(lastQuoted(nowMs) / MINUTE_MS) * MINUTE_MS;
}

/** Returns a new store's past moments, newest first: half hours of five trading days, and closes of 60, all before `newest`. */
export function pastMoments(newest: number): number[] {
  return tradingDaysTo(newest, CLOSE_DAYS)
    .flatMap((date, i) => (i < HALF_HOUR_DAYS ? halfHoursOf(date) : [closeOf(date)]))
    .filter((moment) => moment < newest);
}

/** Returns the half-hour moments of a trading day in reverse order, from the close to the open. */
function halfHoursOf(date: string): number[] {
  const [open, close] = [openOf(date), closeOf(date)];
  return Array.from({ length: (close - open) / HALF_HOUR_MS + 1 }, (_, i) => close - i * HALF_HOUR_MS);
}

/** Returns the last `count` trading days up to the moment `quotedAt`, the newest day first. */
function tradingDaysTo(quotedAt: number, count: number): string[] {
  const days = [newYorkDate(lastQuoted(quotedAt))];
  while (days.length < count) days.push(previousTradingDay(days.at(-1)!));
  return days;
}
