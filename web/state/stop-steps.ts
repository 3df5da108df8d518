import { bisectRight } from 'd3-array';

/** The stored snapshots of a ticker on the time strip, oldest first. Each snapshot is called a stop. */
export interface Stops {
  /** The times of the snapshots, ISO 8601, ascending. */
  readonly at: readonly string[];
  /** The times of the snapshots, in ms since the epoch. */
  readonly ms: readonly number[];
  /** The New York dates of the snapshots. */
  readonly day: readonly string[];
  readonly spot: readonly number[];
}

/** Returns the index of the newest snapshot that is not after a moment. Returns -1 if all snapshots are after the moment. */
export function stopAt({ ms }: Stops, momentMs: number): number {
  return bisectRight(ms, momentMs) - 1;
}

/**
 * Returns the index of the nearest snapshot after a moment (`step` 1) or before the moment (`step` -1). The moment may be between two
 * snapshots. Returns `undefined` if no snapshot is in this direction.
 */
export function stopBeside(stops: Stops, momentMs: number, step: 1 | -1): number | undefined {
  const before = stopAt(stops, momentMs);
  const index = step > 0 ? before + 1 : stops.ms[before] === momentMs ? before - 1 : before;
  return index >= 0 && index < stops.ms.length ? index : undefined;
}

/** Returns the last snapshot of the nearest day before or after a New York date. If there is none, returns the first or last snapshot. */
export function dayBeside({ day }: Stops, date: string, step: 1 | -1): number | undefined {
  if (day.length === 0) return undefined;
  const before = day.findLastIndex((each) => each < date);
  if (step < 0) return Math.max(0, before);
  const next = day.find((each) => each > date);
  return next === undefined ? day.length - 1 : day.lastIndexOf(next);
}

/**
 * Returns an earlier snapshot than a moment of the New York date `date`: the last one of an earlier day (`close`), the first one of the day
 * (`open`), or the newest one that is at least an hour earlier (`hour`). Returns -1 if there is none.
 */
export function earlierStop(stops: Stops, momentMs: number, date: string, name: 'close' | 'open' | 'hour'): number {
  const index =
    name === 'close'
      ? stops.day.findLastIndex((each) => each < date)
      : name === 'open'
        ? stops.day.indexOf(date)
        : stopAt(stops, momentMs - 3_600_000);
  return stops.ms[index]! < momentMs ? index : -1;
}

/** Returns the first snapshot of the newest day with several snapshots, where playback begins that is started at the newest snapshot. */
export function firstOfReplay({ day }: Stops): number {
  for (let i = day.length - 1; i > 0; i--) if (day[i] === day[i - 1]) return day.indexOf(day[i]!);
  return 0;
}

/** Returns the snapshots with a new snapshot at the end. If `at` is not later than all snapshots, returns the snapshots unchanged. */
export function withStop(stops: Stops, at: string, day: string, spot: number): Stops {
  const ms = Date.parse(at);
  if (!(ms > (stops.ms.at(-1) ?? Number.NEGATIVE_INFINITY))) return stops;
  return { at: [...stops.at, at], ms: [...stops.ms, ms], day: [...stops.day, day], spot: [...stops.spot, spot] };
}
