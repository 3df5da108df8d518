import { isDate } from '../../market/calendar.ts';
import { parseDigits } from '../../market/digits.ts';

/**
 * Parses the time of a trade, in microseconds since the epoch. Returns NaN if the text is not a time.
 *
 * Accepts `2026-08-17T13:30:00.00714Z`, `2026-08-17 13:30:00.00714+00`, and numbers of seconds, milliseconds or microseconds since the
 * epoch. The magnitude of a number shows its unit. A time without a zone is in UTC. The vendor writes the `timestamptz` column of the
 * end-of-day tape in UTC (`+00`). Programs that copy the tape, such as spreadsheets, remove the zone but do not change the hour.
 */
export function executedMicros(text: string): number {
  const usual = usualMicros(text);
  if (!Number.isNaN(usual)) return usual;
  if (EPOCH.test(text)) return epochMicros(Number(text));
  const match = INSTANT.exec(text);
  if (match === null) return Number.NaN;
  const [, date = '', hour, minute, second, fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  if (Number(offsetHour) > 18 || Number(offsetMinute) > 59) return Number.NaN;
  const offset = (sign === '-' ? -60 : 60) * Number(offsetHour) + (sign === '-' ? -1 : 1) * Number(offsetMinute);
  const seconds = Number(hour) * 3600 + (Number(minute) - offset) * 60 + Number(second);
  return midnight(date) + seconds * 1e6 + (fraction === '' ? 0 : Number(fraction.padEnd(6, '0').slice(0, 6)));
}

const EPOCH = /^\d{9,16}(?:\.\d+)?$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(?:Z|UTC|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/**
 * A fast parser for times such as `2026-08-17 13:30:00.007140+00`, because a tape has millions of times. Also accepts a `T` before the
 * hour, and a `Z` or no zone at the end. Returns NaN for any other text.
 */
function usualMicros(text: string): number {
  const zoneStart = text.length - (text.endsWith('Z') ? 1 : text.endsWith('+00') ? 3 : 0);
  const separator = text.charCodeAt(10);
  if (
    text.charCodeAt(13) !== COLON ||
    text.charCodeAt(16) !== COLON ||
    (separator !== SPACE && separator !== LETTER_T)
  ) {
    return Number.NaN;
  }
  const hour = parseDigits(text, 11, 13);
  const minute = parseDigits(text, 14, 16);
  const second = parseDigits(text, 17, 19);
  const decimals = zoneStart - 20;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  if (zoneStart !== 19 && (text.charCodeAt(19) !== POINT || decimals < 1 || decimals > 6)) return Number.NaN;
  const fraction = zoneStart === 19 ? 0 : parseDigits(text, 20, zoneStart) * 10 ** (6 - decimals);
  return midnight(text.slice(0, 10)) + (hour * 3600 + minute * 60 + second) * 1e6 + fraction;
}

const [SPACE, POINT, COLON, LETTER_T] = [0x20, 0x2e, 0x3a, 0x54];

/**
 * Converts a number of seconds, milliseconds or microseconds since the epoch to microseconds. A number of seconds since the epoch is below
 * 10^11 until the year 5138. A number of milliseconds since the epoch has been above 10^11 since 1973. So a number below 10^11 means
 * seconds. A number from 10^11 to 10^14 means milliseconds, and a larger number means microseconds.
 */
function epochMicros(value: number): number {
  if (value < 1e11) return Math.round(value * 1e6);
  return value < 1e14 ? Math.round(value * 1e3) : Math.floor(value);
}

// The code caches the last date. A tape covers one day, so its date is parsed only once.
let lastDate = '';
let lastMidnight = Number.NaN;

/** Returns midnight of a date in UTC, in microseconds since the epoch. Returns NaN if the text is not a date. */
function midnight(date: string): number {
  if (date !== lastDate) {
    lastMidnight = isDate(date) ? Date.parse(`${date}T00:00:00Z`) * 1e3 : Number.NaN;
    lastDate = date;
  }
  return lastMidnight;
}
