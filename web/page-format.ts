import { format } from 'd3-format';

/** What stands in place of an unknown value. An unknown value is never shown as 0. */
export const UNKNOWN = '—';

const MINUS = '−';
const signed = (text: string) => text.replace('-', MINUS);
const compact = format('.3s');
const fixed2 = format(',.2f');
const whole = format(',.0f');

export type Known = number | null | undefined;

const isKnown = (value: Known): value is number => typeof value === 'number' && Number.isFinite(value);

/** Three digits with K, M, B or T: `−2.98B`. */
export function amount(value: Known): string {
  if (!isKnown(value)) return UNKNOWN;
  if (value === 0) return '0';
  if (Math.abs(value) < 1) return signed(value.toPrecision(3));
  return signed(compact(value).replace('k', 'K').replace('G', 'B').replace('P', 'Q'));
}

/** Like `amount`, with a plus sign for positive values. */
export function signedAmount(value: Known): string {
  return isKnown(value) && value > 0 ? `+${amount(value)}` : amount(value);
}

/** A price with two decimals: `648.54`. */
export function price(value: Known): string {
  return isKnown(value) ? signed(fixed2(value)) : UNKNOWN;
}

/** A strike without needless zeros: `650`, `637.5`. */
export function strikeText(value: Known): string {
  return isKnown(value) ? signed(format(',~f')(Math.round(value * 1e4) / 1e4)) : UNKNOWN;
}

/** A percentage: `+2.77 %`. `isSigned` false leaves out the plus sign. */
export function percent(value: Known, decimals = 2, isSigned = true): string {
  if (!isKnown(value)) return UNKNOWN;
  const text = signed(format(`,.${decimals}f`)(value));
  return `${isSigned && value > 0 ? '+' : ''}${text} %`;
}

/** A volatility, given as a decimal: `15.9 %`. */
export function volatility(value: Known, decimals = 1): string {
  return isKnown(value) ? percent(100 * value, decimals, false) : UNKNOWN;
}

/** A difference of volatilities, given as a decimal, in points: `+1.25 %`. */
export function volatilityPoints(value: Known): string {
  return isKnown(value) ? percent(100 * value) : UNKNOWN;
}

/** A whole number with separators: `4,288`. */
export function countText(value: Known): string {
  return isKnown(value) ? signed(whole(value)) : UNKNOWN;
}

/** A number with as many digits as a reader needs: `0.0632`. */
export function plain(value: Known, digits = 4): string {
  if (!isKnown(value)) return UNKNOWN;
  return signed(Math.abs(value) >= 1e5 ? amount(value) : String(Number(value.toPrecision(digits))));
}

/** The class of a figure by its sign. */
export function signTone(value: number): 'positive' | 'negative' | '' {
  return value > 0 ? 'positive' : value < 0 ? 'negative' : '';
}

const NEW_YORK = 'America/New_York';
const parts = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { timeZone: NEW_YORK, hourCycle: 'h23', ...options });
const DAY = parts({ weekday: 'short', day: 'numeric', month: 'short' });
const LONG_DAY = parts({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const YEAR = parts({ year: 'numeric' });
const CLOCK = parts({ hour: '2-digit', minute: '2-digit' });
const SECOND = parts({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DATE = new Intl.DateTimeFormat('en-CA', { timeZone: NEW_YORK, dateStyle: 'short' });

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

/** The New York day and time of an instant: `Fri 20 Nov 16:00`. */
export function newYorkMoment(instant: Instant): string {
  return orUnknown(instant, (date) => `${dayText(date)} ${CLOCK.format(date)}`);
}

/** The New York day and time of an instant to the second: `Fri 20 Nov 15:48:15`. */
export function newYorkSecond(instant: Instant): string {
  return orUnknown(instant, (date) => `${dayText(date)} ${SECOND.format(date)}`);
}

/** The New York day of an instant or a date: `Fri 20 Nov`, with the year if `withYear`. */
export function newYorkDay(instant: Instant, withYear = false): string {
  // A date alone would be midnight of UTC, which is the day before in New York.
  const isDate = typeof instant === 'string' && instant.length === DATE_LENGTH;
  return orUnknown(
    isDate ? `${instant}T17:00Z` : instant,
    (date) => `${dayText(date)}${withYear ? ` ${YEAR.format(date)}` : ''}`,
  );
}

/** The New York time of an instant: `16:00`. */
export function newYorkClock(instant: Instant): string {
  return orUnknown(instant, (date) => CLOCK.format(date));
}

/** An instant in New York and in UTC, to the second: `Fri 20 Nov 2026 16:00:00 New York (21:00:00Z)`. */
export function exactMoment(instant: Instant): string {
  return orUnknown(
    instant,
    (date) =>
      `${dayText(date)} ${YEAR.format(date)} ${SECOND.format(date)} New York (${date.toISOString().slice(11, 19)}Z)`,
  );
}

/** The New York day and time in full, for screen readers: `Friday, November 20, 2026, 16:00 New York`. */
export function spokenMoment(instant: Instant): string {
  return orUnknown(instant, (date) => `${LONG_DAY.format(date)}, ${CLOCK.format(date)} New York`);
}

/** The New York date of an instant: `2026-11-20`. */
export function newYorkIsoDate(instant: Instant): string {
  return orUnknown(instant, (date) => DATE.format(date));
}

/** A length of time in its two largest units: `33 h 12 min`. */
export function duration(seconds: Known): string {
  if (!isKnown(seconds)) return UNKNOWN;
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 2 * 86_400)
    return s % 3600 < 60 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} days`;
}

/** Texts of data come from files and providers. Removes marks of direction and invisible characters, and limits the length. */
export function cleanText(value: unknown, most = 300): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return '';
  const text = value.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ').trim();
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The notes of an answer without the one that the ribbon of the page always shows. */
export function marketNotes(notes: string): string {
  return notes.replace('Simulated market: no real quotes.', '').trim();
}
