/** A tick of a time axis. */
export interface TimeTick {
  /** ms since the epoch. */
  readonly at: number;
  readonly label: string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Steps below a day, ms. Each divides a day. */
const SHORT_STEPS = [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];
/** Steps from a day on: their least length, ms, and whether a date, as noon of that date in UTC, has a tick. */
const LONG_STEPS: readonly (readonly [length: number, hasTick: (date: Date) => boolean])[] = [
  [DAY, () => true],
  [7 * DAY, (date) => date.getUTCDay() === 1],
  [28 * DAY, (date) => date.getUTCDate() === 1],
  [90 * DAY, (date) => date.getUTCDate() === 1 && date.getUTCMonth() % 3 === 0],
  [181 * DAY, (date) => date.getUTCDate() === 1 && date.getUTCMonth() % 6 === 0],
  [365 * DAY, (date) => date.getUTCDate() === 1 && date.getUTCMonth() === 0],
];

const WALL = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
});

/** Returns what the clocks of New York show at an instant, to the minute, as the instant at which UTC shows the same. */
export function newYorkWall(ms: number): number {
  const part = Object.fromEntries(WALL.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!);
}

/** Returns the instant at which a date, `YYYY-MM-DD`, begins in New York. */
export function newYorkMidnight(date: string): number {
  // New York is four or five hours behind UTC. The clocks change at two in the morning, so every day has one midnight.
  const at = Date.parse(`${date}T05:00:00Z`);
  return at - (newYorkWall(at) % DAY);
}

/**
 * Returns ticks within [from, to], ms, at most some more than `most`: at round hours of New York, at its midnights, on Mondays, or on firsts of
 * months. A day on which the clocks change has 23 or 25 hours. (Of the ticks that uPlot 1.6.32 puts in ranges with such a day, one of
 * twelve is an hour off.)
 */
export function newYorkTicks(from: number, to: number, most: number): TimeTick[] {
  if (!(to > from) || !(most >= 1)) return [];
  const short = SHORT_STEPS.find((step) => (to - from) / step <= most);
  if (short !== undefined) return shortTicks(from, to, short);
  const [length, hasTick] = LONG_STEPS.find(([step]) => (to - from) / step <= most) ?? LONG_STEPS.at(-1)!;
  const ticks: TimeTick[] = [];
  for (let day = DAY * Math.floor(newYorkWall(from) / DAY); ; day += DAY) {
    const date = new Date(day);
    if (!hasTick(date)) {
      if (day > to + DAY) return ticks;
      continue;
    }
    const at = newYorkMidnight(date.toISOString().slice(0, 10));
    if (at > to) return ticks;
    if (at >= from) ticks.push({ at, label: dateLabel(date, length) });
  }
}

function shortTicks(from: number, to: number, step: number): TimeTick[] {
  const ticks: TimeTick[] = [];
  // The clocks of New York differ from UTC by whole hours, so every tick is a multiple of the step, or of an hour.
  const stride = Math.min(step, HOUR);
  for (let at = stride * Math.ceil(from / stride); at <= to; at += stride) {
    const wall = newYorkWall(at);
    if (wall % step !== 0) continue;
    const label = wall % DAY === 0 ? dateLabel(new Date(wall), DAY) : new Date(wall).toISOString().slice(11, 16);
    ticks.push({ at, label });
  }
  return ticks;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function dateLabel(date: Date, length: number): string {
  const month = date.getUTCMonth();
  if (length >= 28 * DAY) return month === 0 ? String(date.getUTCFullYear()) : MONTHS[month]!;
  return `${date.getUTCDate()} ${MONTHS[month]}`;
}
