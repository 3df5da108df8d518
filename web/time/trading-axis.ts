import { newYorkIsoDate } from '../page-format.ts';
import { closesEarly, isExchangeDay } from './exchange-days.ts';
import { HOUR_STEPS, hourTicks, newYorkMidnight } from './new-york-clock.ts';

/** A day of a time axis. */
export interface AxisDay {
  /** The date in New York, `YYYY-MM-DD`. */
  readonly date: string;
  /** The hours of the day that the axis has, ms since the epoch: the trading session and all moments with data. */
  readonly from: number;
  readonly to: number;
  /** The place of the day on the axis. */
  readonly start: number;
  readonly width: number;
  /** The number of moments with data. */
  readonly count: number;
}

/**
 * A time axis without nights, weekends and holidays, so that a hole on it is always a hole in the data: a missing day, or missing hours of a
 * day.
 */
export interface TradingAxis {
  readonly days: readonly AxisDay[];
  readonly length: number;
  /** Returns the position of an instant, from 0 to `length`. Between two days, it is where they meet. */
  at(ms: number): number;
}

const MINUTE = 60_000;
const OPEN = 570 * MINUTE;
const CLOSE = 960 * MINUTE;
const EARLY_CLOSE = 780 * MINUTE;
const DAY = 86_400_000;
/** A day on the axis is at least this long, ms. */
const SHORTEST = 30 * MINUTE;

/**
 * Returns the axis of moments with data, ms since the epoch, ascending. It has every date from the first to the last (or from and to given
 * dates) on which the exchange opened or that has data. `widthOf` returns the width of a day, for example its hours, or the number of its
 * moments. Within a day, time runs evenly, and half the distance of two moments is left free at both ends.
 */
export function tradingAxis(
  moments: readonly number[],
  widthOf: (day: Omit<AxisDay, 'start' | 'width'>) => number,
  ends: { readonly from?: string | undefined; readonly to?: string | undefined } = {},
): TradingAxis {
  const byDate = Map.groupBy(moments, newYorkIsoDate);
  const dates = [...byDate.keys()];
  const [first, last] = [ends.from ?? dates[0], ends.to ?? dates.at(-1)];
  const days: AxisDay[] = [];
  let length = 0;
  if (first === undefined || last === undefined) return { days, length, at: () => 0 };
  for (let noon = Date.parse(`${first}T12:00Z`); noon <= Date.parse(`${last}T12:00Z`); noon += DAY) {
    const date = new Date(noon).toISOString().slice(0, 10);
    const of = byDate.get(date) ?? [];
    const isSession = isExchangeDay(date);
    if (!isSession && of.length === 0) continue;
    const midnight = newYorkMidnight(date);
    // The last day ends with its last moment, because its other hours may be still to come.
    const isLast = date === last && of.length > 0;
    const from = Math.min(isSession ? midnight + OPEN : Number.POSITIVE_INFINITY, of[0] ?? Number.POSITIVE_INFINITY);
    const close = midnight + (closesEarly(date) ? EARLY_CLOSE : CLOSE);
    const to = Math.max(isSession && !isLast ? close : 0, of.at(-1) ?? 0, from + SHORTEST);
    const day = { date, from, to, count: of.length };
    const width = widthOf(day);
    days.push({ ...day, start: length, width });
    length += width;
  }
  return { days, length, at: (ms) => positionOn(days, ms) };
}

function positionOn(days: readonly AxisDay[], ms: number): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle]!.from <= ms) low = middle + 1;
    else high = middle;
  }
  const day = days[low - 1];
  if (!day) return 0;
  if (ms > day.to) return day.start + day.width;
  const free = day.count === 0 ? 0 : 0.5 / day.count;
  return day.start + day.width * (free + ((1 - 2 * free) * (ms - day.from)) / (day.to - day.from));
}

/** A tick of a time axis. */
export interface TimeTick {
  readonly at: number;
  readonly label: string;
}

/** Which days have ticks, from the most ticks to the fewest: all, or those with which a week, a month, a quarter or a year begins. */
const PERIODS: readonly ((date: string) => string)[] = [
  (date) => date,
  (date) => String(Math.floor((Date.parse(date) / DAY + 3) / 7)),
  (date) => date.slice(0, 7),
  (date) => date.slice(0, 5) + Math.floor((Number(date.slice(5, 7)) - 1) / 3),
  (date) => date.slice(0, 4),
];
const MONTHS = PERIODS.length - 3;

/** Returns ticks with labels for a part of the axis with room for `most` ticks: days, and between them hours if there is room. */
export function tradingTicks({ days, at }: TradingAxis, low: number, high: number, most: number): TimeTick[] {
  const inView = days.filter(({ start, width }) => start + width > low && start < high);
  if (inView.length === 0 || !(high > low) || !(most >= 1)) return [];
  const begins = (periodOf: (date: string) => string) =>
    inView.filter(({ date }, i) => i === 0 || periodOf(date) !== periodOf(inView[i - 1]!.date));
  let level = 0;
  while (level < PERIODS.length - 1 && begins(PERIODS[level]!).length > most) level++;
  const apart = (high - low) / most;
  const ticks: TimeTick[] = [];
  for (const { date, from } of begins(PERIODS[level]!)) {
    const position = at(from);
    // The first period may have only its last days in view, so that its label would stand on the next.
    if (ticks.length > 0 && position - ticks.at(-1)!.at < 0.9 * apart) ticks.pop();
    ticks.push({ at: position, label: dateLabel(date, level) });
  }
  return level === 0 ? withHours(ticks, inView, at, apart) : ticks;
}

/** Adds the hours for which there is room between the ticks of days. */
function withHours(ticks: TimeTick[], days: readonly AxisDay[], at: TradingAxis['at'], apart: number): TimeTick[] {
  for (const step of HOUR_STEPS) {
    const hours = days.flatMap(({ from, to, count }) =>
      count > 1 ? hourTicks(from, to, step).map(({ at: ms, label }) => ({ at: at(ms), label })) : [],
    );
    const free = hours.filter((hour) => ticks.every((day) => Math.abs(day.at - hour.at) >= apart));
    const isSparse = free.every((hour, i) => i === 0 || hour.at - free[i - 1]!.at >= apart);
    // An hour that only some of the days have room for says little.
    if (isSparse) return free.length < days.length ? ticks : [...ticks, ...free].toSorted((a, b) => a.at - b.at);
  }
  return ticks;
}

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function dateLabel(date: string, level: number): string {
  const month = Number(date.slice(5, 7)) - 1;
  if (level >= MONTHS) return month === 0 || level === PERIODS.length - 1 ? date.slice(0, 4) : NAMES[month]!;
  return `${Number(date.slice(8))} ${NAMES[month]}`;
}
