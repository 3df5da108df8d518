import {
  closeOf,
  lastQuoted,
  newYorkDate,
  newYorkInstant,
  nextTradingDay,
  openOf,
  previousTradingDay,
} from './calendar.ts';

/**
 * The rules that decide which snapshots of the simulated market are kept. The simulated market has quotes once a minute. All snapshots
 * together would fill a disk within weeks, and the server can compute each snapshot again. For each ticker, the store keeps:
 *
 * - the snapshots of the last ten minutes, so that a page can ask for further figures of the snapshot that it shows;
 * - the half-hour snapshots of the last five trading days: at the open, at 10:00, 10:30, … and at the close;
 * - the last snapshot of every earlier day.
 *
 * Of the time in which the exchange is closed, only the last ten minutes are kept. The last snapshot of a trading day is thus that of the close.
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
/** Number of nights, weekends and holidays whose old snapshots are removed. A service may have stopped during one of them. */
const CLOSED_TIMES = 10;
/** Number of past trading days for which closes are computed. The trading day of the newest quotes is included. */
const CLOSE_DAYS = 60;

/** The retention of a ticker's snapshots, computed from the newest snapshot. The fields are moments, ms since the epoch. */
export interface SimulatedRetention {
  /** The moment from which every snapshot is kept. */
  readonly allFrom: number;
  /** The moment from which the half-hour snapshots are kept. */
  readonly halfHoursFrom: number;
  /** The last times in which the exchange was closed, each from a close to the next open. */
  readonly closedTimes: readonly (readonly [closeMs: number, openMs: number])[];
}

/** Returns the retention for a ticker whose newest snapshot has the moment `newest`. */
export function simulatedRetention(newest: number): SimulatedRetention {
  const days = tradingDaysTo(newest, CLOSED_TIMES);
  const halfHoursFrom = newYorkInstant(days[HALF_HOUR_DAYS - 1]!, '00:00');
  const closedTimes = days.map((day) => [closeOf(day), openOf(nextTradingDay(day))] as const);
  return { allFrom: newest - ALL_KEPT_MS, halfHoursFrom, closedTimes };
}

/** The hours of the simulated market's quotes: `real`, those of the exchange, or `always`. Its trades and closes keep the exchange's hours. */
export type SimClock = 'real' | 'always';

/** Returns the moment of the simulated market's newest quotes at `nowMs`: the present minute, or with the clock `real` the last close. */
export function newestSimulated(nowMs: number, clock: SimClock): number {
  return Math.floor((clock === 'real' ? lastQuoted(nowMs) : nowMs) / MINUTE_MS) * MINUTE_MS;
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
