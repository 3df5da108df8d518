import { newYorkClockMs } from './new-york-clock.ts';

const WRITTEN = /^(\d{4}-\d{2}-\d{2})(?:[T _](\d{1,2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)? ?(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Returns a written moment as ISO 8601 in UTC. A moment without a zone is New York time, and a date without a time is the end of that day.
 * Examples: `2026-11-19T20:00Z`, `2026-11-19T15:00-05:00`, `2026-11-19 15:00` and `2026-11-19`. Returns null for any other text, and for a day or
 * a time that does not exist.
 */
export function writtenMoment(text: string): string | null {
  // In a query, a `+` stands for a blank.
  const match = WRITTEN.exec(text.trim().replace(/(:\d{2}(?:\.\d+)?) (\d{2}:?\d{2})$/, '$1+$2'));
  if (!match) return null;
  const [, date, clock, rest = '', zone] = match as unknown as [string, string, string?, string?, string?];
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  const time = `${(clock ?? '23:59').padStart(5, '0')}${rest || ':00'}`;
  if (zone !== undefined && clock === undefined) return null;
  const offset = zone?.toUpperCase().replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const ms = offset === undefined ? newYorkClockMs(date, time) : Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
