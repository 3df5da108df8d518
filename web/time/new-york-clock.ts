const MINUTE = 60_000;
/** The length of an hour, in ms. */
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// The Swedish locale formats dates as ISO 8601 does: `2026-11-20 16:00`.
const WALL = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/New_York', dateStyle: 'short', timeStyle: 'short' });

/** Returns the local time of New York at an instant, to the minute. The result is a time in ms that, read as UTC, gives this local time. */
export function newYorkWall(ms: number): number {
  return Date.parse(`${WALL.format(ms).replace(' ', 'T')}Z`);
}

/** Returns the instant at which a date (`YYYY-MM-DD`) starts in New York, in ms since the epoch. */
export function newYorkMidnight(date: string): number {
  // New York is four or five hours behind UTC. Daylight saving time starts and ends at 02:00, so every day has exactly one midnight.
  const at = Date.parse(`${date}T05:00:00Z`);
  return at - (newYorkWall(at) % DAY);
}

/** Returns the instant of a time in New York, in ms since the epoch. `time` is `15:00:00`. NaN if the time does not exist. */
export function newYorkClockMs(date: string, time: string): number {
  const wanted = Date.parse(`${date}T${time}Z`);
  const guess = wanted + 5 * HOUR;
  // `newYorkWall` is exact to the minute.
  return Number.isNaN(guess) ? guess : guess - (newYorkWall(guess) - MINUTE * Math.floor(wanted / MINUTE));
}

/** The possible distances between time ticks within a day, in ms. A day is a multiple of each distance. */
export const HOUR_STEPS = [
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
] as const;

/**
 * Returns the instants within [from, to], in ms, at which the local time of New York is a multiple of `step`. The function also handles
 * days of 23 or 25 hours, on which daylight saving time starts or ends.
 */
export function hourTicks(from: number, to: number, step: number): { readonly at: number; readonly label: string }[] {
  const ticks: { at: number; label: string }[] = [];
  // The local time of New York differs from UTC by whole hours. The loop therefore checks only the multiples of `step` in UTC, or every
  // hour if `step` is longer than an hour.
  const stride = Math.min(step, HOUR);
  for (let at = stride * Math.ceil(from / stride); at <= to; at += stride) {
    const wall = newYorkWall(at);
    if (wall % step === 0) ticks.push({ at, label: new Date(wall).toISOString().slice(11, 16) });
  }
  return ticks;
}
