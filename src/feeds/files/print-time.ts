import { memoizeBytes, textIn } from '../../core/memoize-bytes.ts';
import { isDate } from '../../market/calendar.ts';

/**
 * Parses the time of a trade, the bytes [from, to), in microseconds since the epoch. Returns NaN if the text is not a time.
 *
 * Accepts `2026-08-17T13:30:00.00714Z`, `2026-08-17 13:30:00.00714+00`, and numbers of seconds, milliseconds or microseconds since the
 * epoch. The magnitude of a number shows its unit. A time without a zone is in UTC. The vendor writes the `timestamptz` column of the
 * end-of-day tape in UTC (`+00`). Programs that copy the tape, such as spreadsheets, remove the zone but do not change the hour.
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
  return midnight(date) + seconds * 1e6 + (fraction === '' ? 0 : Number(fraction.padEnd(6, '0').slice(0, 6)));
}

const EPOCH = /^\d{9,16}(?:\.\d+)?$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(?:Z|UTC|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/**
 * A fast parser for times such as `2026-08-17 13:30:00.007140+00`, because a tape has millions of times. Also accepts a `T` before the
 * hour, and a `Z` or no zone at the end. Returns NaN for any other text.
 */
function usualMicros(bytes: Uint8Array, from: number, to: number): number {
  const isHour = bytes[to - 3] === PLUS && bytes[to - 2] === ZERO && bytes[to - 1] === ZERO;
  const zoneStart = to - from - (bytes[to - 1] === LETTER_Z ? 1 : isHour ? 3 : 0);
  const separator = bytes[from + 10];
  const isUsual = bytes[from + 13] === COLON && bytes[from + 16] === COLON;
  if (zoneStart < 19 || !isUsual || (separator !== SPACE && separator !== LETTER_T)) return Number.NaN;
  const hour = digitsIn(bytes, from + 11, from + 13);
  const minute = digitsIn(bytes, from + 14, from + 16);
  const second = digitsIn(bytes, from + 17, from + 19);
  const decimals = zoneStart - 20;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  if (zoneStart !== 19 && (bytes[from + 19] !== POINT || decimals < 1 || decimals > 6)) return Number.NaN;
  const fraction = zoneStart === 19 ? 0 : digitsIn(bytes, from + 20, from + zoneStart) * SCALES[6 - decimals]!;
  return midnightOf(bytes, from, from + 10) + (hour * 3600 + minute * 60 + second) * 1e6 + fraction;
}

const [SPACE, PLUS, POINT, ZERO, COLON, LETTER_T, LETTER_Z] = [0x20, 0x2b, 0x2e, 0x30, 0x3a, 0x54, 0x5a];
const SCALES = [1, 10, 100, 1_000, 10_000, 100_000];

/** Parses the whole number whose digits are the bytes [from, to). Returns NaN for any other text. */
function digitsIn(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = 10 * value + digit;
  }
  return value;
}

/**
 * Converts a number of seconds, milliseconds or microseconds since the epoch to microseconds. A number of seconds since the epoch is below
 * 10^11 until the year 5138. A number of milliseconds since the epoch has been above 10^11 since 1973. So a number below 10^11 means
 * seconds. A number from 10^11 to 10^14 means milliseconds, and a larger number means microseconds.
 */
function epochMicros(value: number): number {
  if (value < 1e11) return Math.round(value * 1e6);
  return value < 1e14 ? Math.round(value * 1e3) : Math.floor(value);
}

/** Returns midnight of a date in UTC, in microseconds since the epoch. Returns NaN if the text is not a date. */
function midnight(date: string): number {
  return isDate(date) ? Date.parse(`${date}T00:00:00Z`) * 1e3 : Number.NaN;
}

/** A tape covers few days, so each date is parsed only once. */
const midnightOf = memoizeBytes(1_024, midnight);
