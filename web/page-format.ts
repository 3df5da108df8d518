import { format } from 'd3-format';

/** The text for an unknown value. The page never shows an unknown value as 0. */
export const UNKNOWN = '—';

const MINUS = '−';
const signed = (text: string) => text.replace('-', MINUS);
const compact = format('.3s');
const fixed2 = format(',.2f');
const whole = format(',.0f');

export type Known = number | null | undefined;

const isKnown = (value: Known): value is number => typeof value === 'number' && Number.isFinite(value);

/** Returns a number with three digits and K, M, B or T: `−2.98B`. A whole number below 1,000 has no decimals. */
export function amount(value: Known): string {
  if (!isKnown(value)) return UNKNOWN;
  if (value === 0) return '0';
  if (Math.abs(value) < 1) return signed(value.toPrecision(3));
  if (Number.isInteger(value) && Math.abs(value) < 1000) return signed(String(value));
  return signed(compact(value).replace('k', 'K').replace('G', 'B').replace('P', 'Q'));
}

/** Returns the same text as `amount`, but with a plus sign before a positive number. */
export function signedAmount(value: Known): string {
  return isKnown(value) && value > 0 ? `+${amount(value)}` : amount(value);
}

/** Returns a price or a ratio with two decimals: `648.54`. */
export function price(value: Known): string {
  return isKnown(value) ? signed(fixed2(value)) : UNKNOWN;
}

/** Returns a strike without trailing zeros: `650`, `637.5`. */
export function strikeText(value: Known): string {
  return isKnown(value) ? signed(format(',~f')(Math.round(value * 1e4) / 1e4)) : UNKNOWN;
}

/** Returns a difference as text with a sign. The text from `print` may already contain a plus sign. */
export function differenceText(difference: number, print: (value: number) => string): string {
  if (difference === 0) return 'no change';
  return `${difference > 0 ? '+' : ''}${print(difference).replace(/^\+/, '')}`;
}

/** Returns a percentage: `+2.77 %`. If `isSigned` is false, the text has no plus sign. */
export function percent(value: Known, decimals = 2, isSigned = true): string {
  if (!isKnown(value)) return UNKNOWN;
  const text = signed(format(`,.${decimals}f`)(value));
  return `${isSigned && value > 0 ? '+' : ''}${text} %`;
}

/** Returns a volatility as a percentage: `15.9 %`. The argument is a decimal. */
export function volatility(value: Known, decimals = 1): string {
  return isKnown(value) ? percent(100 * value, decimals, false) : UNKNOWN;
}

/** Returns a difference of two volatilities in percentage points: `+1.25 %`. The argument is a decimal. */
export function volatilityPoints(value: Known): string {
  return isKnown(value) ? percent(100 * value) : UNKNOWN;
}

/** Returns a whole number with thousands separators: `4,288`. */
export function countText(value: Known): string {
  return isKnown(value) ? signed(whole(value)) : UNKNOWN;
}

/** Returns a count with its noun, which gets a plural `s` unless the count is 1: `3 days`. */
export function counted(n: number, noun: string): string {
  return `${countText(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/** Returns counts as text, largest first, without zeros: `12 no bid, 3 expired`. The names may come from files, so they are cleaned. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, n]) => n > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, n]) => `${countText(n)} ${cleanText(name, 60).replaceAll('_', ' ')}`)
    .join(', ');
}

/** Returns a number with at most `digits` significant digits: `0.0632`. */
export function plain(value: Known, digits = 4): string {
  if (!isKnown(value)) return UNKNOWN;
  return signed(Math.abs(value) >= 1e5 ? amount(value) : String(Number(value.toPrecision(digits))));
}

/** Returns the CSS class for the sign of a figure. */
export function signTone(value: number): 'positive' | 'negative' | '' {
  return value > 0 ? 'positive' : value < 0 ? 'negative' : '';
}

const NEW_YORK = 'America/New_York';
/** A format of instants in New York. It is made when it is first used, because each takes milliseconds of the first load. */
const parts = (options: Intl.DateTimeFormatOptions, locale = 'en-US') => {
  let made: Intl.DateTimeFormat | undefined;
  const format = () => (made ??= new Intl.DateTimeFormat(locale, { timeZone: NEW_YORK, hourCycle: 'h23', ...options }));
  return {
    format: (date: Date | number) => format().format(date),
    formatToParts: (date: Date) => format().formatToParts(date),
  };
};
const DAY = parts({ weekday: 'short', day: 'numeric', month: 'short' });
const LONG_DAY = parts({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const CLOCK = parts({ hour: '2-digit', minute: '2-digit' });
const SECOND = parts({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DATE = parts({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'en-CA');
const YEAR = { format: (date: Date | number) => DATE.format(date).slice(0, 4) };

const DATE_LENGTH = 'yyyy-mm-dd'.length;

type Instant = string | number | null | undefined;

function instantMs(instant: Instant): number {
  return typeof instant === 'string' ? Date.parse(instant) : (instant ?? Number.NaN);
}

function orUnknown(instant: Instant, text: (date: Date) => string): string {
  const ms = instantMs(instant);
  return Number.isFinite(ms) ? text(new Date(ms)) : UNKNOWN;
}

function dayText(date: Date): string {
  const named = Object.fromEntries(DAY.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${named.weekday} ${named.day} ${named.month}`;
}

/** Returns a day, with its year if `withYear` is true or if it is not the present year: without it, a day of another year reads as near. */
function yearlyDay(date: Date, withYear = YEAR.format(date) !== YEAR.format(Date.now())): string {
  return `${dayText(date)}${withYear ? ` ${YEAR.format(date)}` : ''}`;
}

/** Returns the New York day and time of an instant: `Fri 20 Nov 16:00`. An instant of another year has its year. */
export function newYorkMoment(instant: Instant, withYear?: boolean): string {
  return orUnknown(instant, (date) => `${yearlyDay(date, withYear)} ${CLOCK.format(date)}`);
}

/** Returns the New York day and time of an instant, to the second: `Fri 20 Nov 15:48:15`. An instant of another year has its year. */
export function newYorkSecond(instant: Instant): string {
  return orUnknown(instant, (date) => `${yearlyDay(date)} ${SECOND.format(date)}`);
}

/**
 * Returns the New York day of an instant or a date: `Fri 20 Nov`. The text includes the year if `withYear` is true. If `withYear` is not
 * given, it includes the year if the day is of another year than the present one.
 */
export function newYorkDay(instant: Instant, withYear?: boolean): string {
  // A date is converted to 17:00 UTC of this date, because at midnight UTC, it is still the day before in New York.
  const isDate = typeof instant === 'string' && instant.length === DATE_LENGTH;
  return orUnknown(isDate ? `${instant}T17:00Z` : instant, (date) => yearlyDay(date, withYear));
}

/** Returns a sentence of the server with its instants as New York times. */
export function withMoments(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (each) => `${newYorkMoment(each)} New York`);
}

/** Returns the New York time of an instant: `16:00`. */
export function newYorkClock(instant: Instant): string {
  return orUnknown(instant, (date) => CLOCK.format(date));
}

/** Returns an instant in New York time and in UTC, to the second: `Fri 20 Nov 2026 16:00:00 New York (21:00:00Z)`. */
export function exactMoment(instant: Instant): string {
  return orUnknown(
    instant,
    (date) =>
      `${dayText(date)} ${YEAR.format(date)} ${SECOND.format(date)} New York (${date.toISOString().slice(11, 19)}Z)`,
  );
}

/** Returns the full New York day and time for screen readers: `Friday, November 20, 2026, 16:00 New York`. */
export function spokenMoment(instant: Instant): string {
  return orUnknown(instant, (date) => `${LONG_DAY.format(date)}, ${CLOCK.format(date)} New York`);
}

/** Returns the New York date of an instant: `2026-11-20`. */
export function newYorkIsoDate(instant: Instant): string {
  return orUnknown(instant, (date) => DATE.format(date));
}

/** Returns a duration in its two largest units: `33 h 12 min`. The argument is in seconds. */
export function duration(seconds: Known): string {
  if (!isKnown(seconds)) return UNKNOWN;
  const s = Math.round(seconds);
  if (s < 0) return `-${duration(-s)}`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 2 * 86_400)
    return s % 3600 < 60 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} days`;
}

/**
 * Returns a text without invisible characters and bidirectional control characters, cut to `most` characters. The page passes every text
 * from files and providers through this function.
 */
export function cleanText(value: unknown, most = 300): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return '';
  const text = value.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ').trim();
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Returns the notes of an answer without the note on the simulated market, because the status ribbon always shows this note. */
export function marketNotes(notes: string): string {
  return notes.replace('Simulated market: no real quotes.', '').trim();
}
