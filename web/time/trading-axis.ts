import { bisector } from 'd3-array';
import { newYorkIsoDate } from '../page-format.ts';
import { DAY_LENGTH_MS, exchangeHours, isExchangeDay, shiftedDate } from './exchange-days.ts';
import { HOUR, HOUR_STEPS, hourTicks } from './new-york-clock.ts';

/** A day on a time axis. */
export interface AxisDay {
  /** The date in New York, `YYYY-MM-DD`. */
  readonly date: string;
  /** The start and end of the day on the axis, in ms since the epoch. The day includes the session and all moments with data. */
  readonly from: number;
  readonly to: number;
  /** The position of the day's start on the axis. */
  readonly start: number;
  readonly width: number;
  /** The number of moments with data on this day. */
  readonly count: number;
}

/** A time axis without nights, weekends and holidays. On this axis, a gap always shows missing data: a whole day, or hours of a day. */
export interface TradingAxis {
  readonly days: readonly AxisDay[];
  readonly length: number;
  /** Returns the position of an instant, from 0 to `length`. An instant between two days has the position of the days' boundary. */
  at(ms: number): number;
}

/** Minimum length of a day on the axis, in ms. */
const SHORTEST = HOUR / 2;

/**
 * Returns the time axis of moments with data. The moments are in ms since the epoch, ascending. The axis starts with the first moment and
 * ends with the last. The axis contains every trading day and every date with data. `ends` can replace the first and the last date. The
 * function `widthOf` returns the width of a day, for example the number of hours or of moments. Within a day, time is linear. Each end of a
 * day has a margin of half the average distance between moments.
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
  for (let date = first; date <= last; date = shiftedDate(date, 1)) {
    const of = byDate.get(date) ?? [];
    const isSession = isExchangeDay(date);
    if (!isSession && of.length === 0) continue;
    const { opens, closes } = exchangeHours(date);
    // On the axis, the last day ends at its last moment with data, because later hours may be in the future.
    const isLast = date === last && of.length > 0;
    const from = Math.min(isSession ? opens : Number.POSITIVE_INFINITY, of[0] ?? Number.POSITIVE_INFINITY);
    const to = Math.max(isSession && !isLast ? closes : 0, of.at(-1) ?? 0, from + SHORTEST);
    const day = { date, from, to, count: of.length };
    const width = widthOf(day);
    days.push({ ...day, start: length, width });
    length += width;
  }
  return { days, length, at: (ms) => positionOn(days, ms) };
}

const byStart = bisector(({ from }: AxisDay) => from);

function positionOn(days: readonly AxisDay[], ms: number): number {
  const day = days[byStart.right(days, ms) - 1];
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

/** Functions that group dates by day, week, month, quarter or year. The grouping by day gives the most ticks. */
const PERIODS: readonly ((date: string) => string)[] = [
  (date) => date,
  (date) => String(Math.floor((Date.parse(date) / DAY_LENGTH_MS + 3) / 7)),
  (date) => date.slice(0, 7),
  (date) => date.slice(0, 5) + Math.floor((Number(date.slice(5, 7)) - 1) / 3),
  (date) => date.slice(0, 4),
];
const MONTHS = PERIODS.length - 3;

/**
 * Returns labelled ticks for a section of the axis. The section has space for `most` labels. The ticks are days, and also hours if there is
 * enough space between the days. The first tick of a year other than the present one has the year.
 */
export function tradingTicks({ days, at }: TradingAxis, low: number, high: number, most: number): TimeTick[] {
  const inView = days.filter(({ start, width }) => start + width > low && start < high);
  if (inView.length === 0 || !(high > low) || !(most >= 1)) return [];
  const begins = (periodOf: (date: string) => string) =>
    inView.filter(({ date }, i) => i === 0 || periodOf(date) !== periodOf(inView[i - 1]!.date));
  let level = 0;
  while (level < PERIODS.length - 1 && begins(PERIODS[level]!).length > most) level++;
  const apart = (high - low) / most;
  const ticks: TimeTick[] = [];
  const dates: string[] = [];
  for (const { date, from } of begins(PERIODS[level]!)) {
    const position = at(from);
    // A tick too close to the next tick is removed. The first tick can be too close, because only the end of its period may be visible.
    if (ticks.length > 0 && position - ticks.at(-1)!.at < 0.9 * apart) {
      ticks.pop();
      dates.pop();
    }
    const isNewYear = date.slice(0, 4) !== (dates.at(-1) ?? newYorkIsoDate(Date.now())).slice(0, 4);
    ticks.push({ at: position, label: dateLabel(date, level, isNewYear) });
    dates.push(date);
  }
  return level === 0 ? withHours(ticks, inView, at, apart) : ticks;
}

/** Adds ticks for hours between the ticks of days if there is enough space. */
function withHours(ticks: TimeTick[], days: readonly AxisDay[], at: TradingAxis['at'], apart: number): TimeTick[] {
  for (const step of HOUR_STEPS) {
    const hours = days.flatMap(({ from, to, count }) =>
      count > 1 ? hourTicks(from, to, step).map(({ at: ms, label }) => ({ at: at(ms), label })) : [],
    );
    const free = hours.filter((hour) => ticks.every((day) => Math.abs(day.at - hour.at) >= apart));
    const isSparse = free.every((hour, i) => i === 0 || hour.at - free[i - 1]!.at >= apart);
    // If there is space for fewer hours than days, the axis shows no hours.
    if (isSparse) return free.length < days.length ? ticks : [...ticks, ...free].toSorted((a, b) => a.at - b.at);
  }
  return ticks;
}

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function dateLabel(date: string, level: number, withYear: boolean): string {
  const month = Number(date.slice(5, 7)) - 1;
  if (level >= MONTHS && (month === 0 || level === PERIODS.length - 1)) return date.slice(0, 4);
  const day = level >= MONTHS ? '' : `${Number(date.slice(8))} `;
  return `${day}${NAMES[month]}${withYear ? ` ’${date.slice(2, 4)}` : ''}`;
}
