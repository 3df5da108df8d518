import { cleanLine } from '../../core/clean-text.ts';
import { isDate, newYorkInstant } from '../../market/calendar.ts';
import { closingTime } from '../vendors/date-forms.ts';
import type { FileFacts } from './format.ts';

/** A date in a name, and optionally a time: `2026-08-21`, `20260821`, `2026-08-21T15-45` or `20260821_1545`. */
const DATE_IN_NAME = /(?<!\d)(\d{4})([-_.]?)(\d\d)\2(\d\d)(?:[T_ -]([01]\d|2[0-3])[-:h]?([0-5]\d))?(?!\d)/g;

/**
 * Returns the time of a file's quotes that its caller states, or that the name of the file or of its folder states, ms since the epoch. A date
 * stands for the close on that day, and a time is a New York time. Returns `undefined` if nobody states a time, or if a name has two dates. Throws
 * a `ClientError` for a day without a close.
 */
export function timeOfFile({ origin, stated }: Pick<FileFacts, 'origin' | 'stated'>): number | undefined {
  if (stated?.asOf !== undefined) return stated.asOf;
  for (const name of origin.split('/').reverse()) {
    const found = [...name.matchAll(DATE_IN_NAME)]
      .map(([, year, , month, day, hour, minute]) => ({ date: `${year}-${month}-${day}`, hour, minute }))
      .filter(({ date }) => isDate(date));
    if (found.length === 0) continue;
    if (found.length > 1) return undefined;
    const [{ date, hour, minute }] = found as [(typeof found)[number]];
    return hour === undefined
      ? closingTime(date, stated?.close, `the name ${cleanLine(name, 60)}`)
      : newYorkInstant(date, `${hour}:${minute}`);
  }
  return undefined;
}

/** Parses an ISO 8601 instant, ms since the epoch. Returns `undefined` for other texts, and for instants without an offset from UTC. */
export function instantIn(text: string): number | undefined {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** Says how a person can state the time of a file that has none. */
export const STATE_THE_TIME =
  'State it: --as-of 2026-08-21, a date in the name of the file such as chain-2026-08-21.csv, or as_of in a mapping';
