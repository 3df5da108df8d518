const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Swedish dates are those of ISO 8601: `2026-11-20 16:00`.
const WALL = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/New_York', dateStyle: 'short', timeStyle: 'short' });

/** Returns what the clocks of New York show at an instant, to the minute, as the instant at which UTC shows the same. */
export function newYorkWall(ms: number): number {
  return Date.parse(`${WALL.format(ms).replace(' ', 'T')}Z`);
}

/** Returns the instant at which a date, `YYYY-MM-DD`, begins in New York. */
export function newYorkMidnight(date: string): number {
  // New York is four or five hours behind UTC. The clocks change at two in the morning, so every day has one midnight.
  const at = Date.parse(`${date}T05:00:00Z`);
  return at - (newYorkWall(at) % DAY);
}

/** The steps of ticks within a day, ms. Each divides a day. */
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
 * Returns the instants within [from, to], ms, at which New York clocks show a multiple of a step. A day on which the clocks change has 23 or
 * 25 hours.
 */
export function hourTicks(from: number, to: number, step: number): { readonly at: number; readonly label: string }[] {
  const ticks: { at: number; label: string }[] = [];
  // The clocks of New York differ from UTC by whole hours, so every tick is a multiple of the step, or of an hour.
  const stride = Math.min(step, HOUR);
  for (let at = stride * Math.ceil(from / stride); at <= to; at += stride) {
    const wall = newYorkWall(at);
    if (wall % step === 0) ticks.push({ at, label: new Date(wall).toISOString().slice(11, 16) });
  }
  return ticks;
}
