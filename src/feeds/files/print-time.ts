import { memoizeBytes, textIn } from '../../core/memoize-bytes.ts';
import { isDate } from '../../market/calendar.ts';

/**
 * Parses the time of a trade, the bytes [from, to), in microseconds since the epoch. Returns NaN if the text is not a time. Accepts
 * `2026-08-17T13:30:00.00714Z`, `2026-08-17 13:30:00.00714+00`, and numbers of seconds, milliseconds or microseconds since the epoch. A time
 * without a zone is in UTC: programs that copy the vendor's tape, such as spreadsheets, remove its `+00` but do not change the hour.
 */
export function executedMicros(bytes: Uint8Array, from: number, to: number): number {
  const usual = usualMicros(bytes, from, to);
  return Number.isNaN(usual) ? microsOf(textIn(bytes, from, to)) : usual;
}

function microsOf(text: string): number {
  if (EPOCH.test(text)) return epochMicros(Number(text));
  const match = INSTANT.exec(text);
  if (match === null) return Number.NaN;
  const [, date = '', hour, minute, second, fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  if (Number(offsetHour) > 18 || Number(offsetMinute) > 59) return Number.NaN;
  const offset = (sign === '-' ? -60 : 60) * Number(offsetHour) + (sign === '-' ? -1 : 1) * Number(offsetMinute);
  const seconds = Number(hour) * 3600 + (Number(minute) - offset) * 60 + Number(second);
  const midnight = isDate(date) ? Date.parse(`${date}T00:00:00Z`) * 1e3 : Number.NaN;
  return midnight + seconds * 1e6 + (fraction === '' ? 0 : Number(fraction.padEnd(6, '0').slice(0, 6)));
}

const EPOCH = /^\d{9,16}(?:\.\d+)?$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(?:Z|UTC|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/** A fast parser for times such as `2026-08-17 13:30:00.007140+00`, also with a `T`, a `Z` or no zone. Returns NaN for any other text. */
function usualMicros(bytes: Uint8Array, from: number, to: number): number {
  const point = from + 19;
  const isHour = bytes[to - 3] === PLUS && bytes[to - 2] === ZERO && bytes[to - 1] === ZERO;
  const end = bytes[to - 1] === LETTER_Z ? to - 1 : isHour ? to - 3 : to;
  if (end === point) return secondOf(bytes, from, point);
  const decimals = end - point - 1;
  if (bytes[point] !== POINT || decimals < 1 || decimals > 6) return Number.NaN;
  let fraction = 0;
  for (let at = point + 1; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    fraction = 10 * fraction + digit;
  }
  return secondOf(bytes, from, point) + fraction * SCALES[6 - decimals]!;
}

const [PLUS, POINT, ZERO, LETTER_Z] = [0x2b, 0x2e, 0x30, 0x5a];
const SCALES = [1, 10, 100, 1_000, 10_000, 100_000];

/** The time of a whole second. Many trades have the second of the trade before. */
const secondOf = memoizeBytes(16_384, (text) => (EPOCH.test(text) ? Number.NaN : microsOf(text)));

/**
 * Converts a number of seconds, milliseconds or microseconds since the epoch to microseconds. Seconds are below 10^11 until the year 5138, and
 * milliseconds have been above it since 1973. They are below 10^14, and microseconds above it.
 */
function epochMicros(value: number): number {
  if (value < 1e11) return Math.round(value * 1e6);
  return value < 1e14 ? Math.round(value * 1e3) : Math.floor(value);
}
