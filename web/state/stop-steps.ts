import { bisectRight } from 'd3-array';

/** The stops of the time strip: the stored snapshots of a ticker, oldest first. */
export interface Stops {
  /** The moments of the stops, ISO 8601, ascending. */
  readonly at: readonly string[];
  /** The moments of the stops, in ms since the epoch. */
  readonly ms: readonly number[];
  /** The New York dates of the stops. */
  readonly day: readonly string[];
  readonly spot: readonly number[];
}

/** Returns the index of the newest stop that is not after a moment, or -1 if there is none. */
export function stopAt({ ms }: Stops, momentMs: number): number {
  return bisectRight(ms, momentMs) - 1;
}

/**
 * Returns the index of the nearest stop after a moment (`step` 1) or before it (`step` -1). The moment itself need not be a stop. Returns
 * `undefined` if there is no such stop.
 */
export function stopBeside(stops: Stops, momentMs: number, step: 1 | -1): number | undefined {
  const before = stopAt(stops, momentMs);
  const index = step > 0 ? before + 1 : stops.ms[before] === momentMs ? before - 1 : before;
  return index >= 0 && index < stops.ms.length ? index : undefined;
}

/** Returns the last stop on the nearest day before or after a New York date. Without such a day, returns the first or the last stop. */
export function dayBeside({ day }: Stops, date: string, step: 1 | -1): number | undefined {
  if (day.length === 0) return undefined;
  if (step < 0)
    return Math.max(
      0,
      day.findLastIndex((each) => each < date),
    );
  const next = day.find((each) => each > date);
  return next === undefined ? day.length - 1 : day.lastIndexOf(next);
}

/** Returns the stop at which a replay begins from the newest stop: the first stop of the newest day with several stops. */
export function firstOfReplay({ day }: Stops): number {
  for (let i = day.length - 1; i > 0; i--) if (day[i] === day[i - 1]) return day.indexOf(day[i]!);
  return 0;
}

/** Returns the stops with one stop added. Returns the stops unchanged if the moment is not newer than all stops. */
export function withStop(stops: Stops, at: string, day: string, spot: number): Stops {
  const ms = Date.parse(at);
  if (!(ms > (stops.ms.at(-1) ?? Number.NEGATIVE_INFINITY))) return stops;
  return { at: [...stops.at, at], ms: [...stops.ms, ms], day: [...stops.day, day], spot: [...stops.spot, spot] };
}
