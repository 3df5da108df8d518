import { memoize } from '../core/cache.ts';

/**
 * The trading calendar of the New York Stock Exchange from 1990 on, by NYSE rule 7.2 and the published early closes, with a list of
 * exceptions. Dates are `YYYY-MM-DD` in New York. Instants are ms since the epoch.
 */

export const DAY_MS = 86_400_000;
/** The length of a year of 365.25 days, ms. Times to expiry in years use this length. */
export const YEAR_MS = 365.25 * DAY_MS;

/** Maximum number of cached dates, about eight years of dates. Parsing or formatting a date takes ten times as long as a cache lookup. */
const DATES_MAX = 3_000;

/** Returns whether the exchange opens on a date. */
export const isTradingDay = memoize(DATES_MAX, (date: string): boolean => {
  return !isWeekend(date) && !yearOf(date.slice(0, 4)).holidays.has(date);
});

/** Returns whether a date is a Saturday or a Sunday. */
export function isWeekend(date: string): boolean {
  const weekday = weekdayOf(date);
  return weekday === SATURDAY || weekday === SUNDAY;
}

/** Returns whether trading ends at 13:00 on a date. */
export function isHalfDay(date: string): boolean {
  return yearOf(date.slice(0, 4)).halfDays.has(date);
}

/** The first year of the calendar. */
export const FIRST_YEAR = 1990;

/** Returns the weekdays of a year on which the exchange is shut, and those on which trading ends at 13:00, ascending. */
export function closedDatesOf(year: number): { holidays: string[]; halfDays: string[] } {
  const { holidays, halfDays } = yearOf(String(year));
  return {
    holidays: [...holidays].filter((date) => !isWeekend(date)).toSorted(),
    halfDays: [...halfDays].filter(isTradingDay).toSorted(),
  };
}

/** Returns the open on a date, 09:30 in New York, or the open of the trading day before it. */
export const openOf = memoize(DATES_MAX, (date: string): number =>
  newYorkInstant(isTradingDay(date) ? date : previousTradingDay(date), '09:30'),
);

/** Returns the close on a date, 16:00 or on half days 13:00 in New York, or the close of the trading day before it. */
export const closeOf = memoize(DATES_MAX, (date: string): number => {
  const day = isTradingDay(date) ? date : previousTradingDay(date);
  return newYorkInstant(day, isHalfDay(day) ? '13:00' : '16:00');
});

/**
 * Returns the settlement of an expiry: AM at the opening prices, PM at the close, of the trading day up to that date, because expiries may
 * be Saturdays (until 2015) or Good Friday.
 */
export function settlementInstant(expiry: string, settlement: 'AM' | 'PM'): number {
  return settlement === 'AM' ? openOf(expiry) : closeOf(expiry);
}

/** Returns the last trading day before a date. */
export function previousTradingDay(date: string): string {
  let day = addDays(date, -1);
  while (!isTradingDay(day)) day = addDays(day, -1);
  return day;
}

/** Returns the first trading day after a date. */
export const nextTradingDay = memoize(DATES_MAX, (date: string): string => {
  let day = addDays(date, 1);
  while (!isTradingDay(day)) day = addDays(day, 1);
  return day;
});

/** Returns the end of a horizon of `days` calendar days: a close, of the next trading day if need be. It may be before `fromMs`. */
export function horizonEnd(fromMs: number, days: number): number {
  const date = addDays(newYorkDate(fromMs), days);
  return closeOf(isTradingDay(date) ? date : nextTradingDay(date));
}

/** Returns the close of a session: with `count` 1 of the one that is open at an instant, or else the next one; with 2 of the one after it. */
export function sessionEnd(fromMs: number, count = 1): number {
  let day = newYorkDate(fromMs);
  if (!isTradingDay(day) || fromMs >= closeOf(day)) day = nextTradingDay(day);
  for (let i = 1; i < count; i++) day = nextTradingDay(day);
  return closeOf(day);
}

/** Returns the moment of the newest quotes at `nowMs`: `nowMs` itself if the exchange is open, or else the last close. */
export function lastQuoted(nowMs: number): number {
  const today = newYorkDate(nowMs);
  if (!isTradingDay(today) || nowMs < openOf(today)) return closeOf(previousTradingDay(today));
  return Math.min(nowMs, closeOf(today));
}

/** Returns the last close at or before an instant, ms since the epoch. */
export function lastClose(nowMs: number): number {
  const today = newYorkDate(nowMs);
  return isTradingDay(today) && nowMs >= closeOf(today) ? closeOf(today) : closeOf(previousTradingDay(today));
}

/** Returns how long the exchange was open between two instants, ms. A result above `mostMs` is only a lower bound. */
export function openMsBetween(fromMs: number, toMs: number, mostMs: number): number {
  let open = 0;
  for (let day = newYorkDate(fromMs); open <= mostMs; day = nextTradingDay(day)) {
    const [from, to] = [openOf(day), closeOf(day)];
    if (from >= toMs) break;
    if (isTradingDay(day)) open += Math.max(0, Math.min(to, toMs) - Math.max(from, fromMs));
  }
  return open;
}

/** Returns whether the exchange was open for more than `staleAfterMs` since `asOf`. No newer quotes appear outside trading hours. */
export function isStale(asOf: number, nowMs: number, staleAfterMs: number): boolean {
  return nowMs - asOf > staleAfterMs && openMsBetween(asOf, nowMs, staleAfterMs) > staleAfterMs;
}

/** Returns whether the exchange is open at any time between two instants. */
export function tradesWithin(fromMs: number, toMs: number): boolean {
  return toMs >= tradesFrom(fromMs);
}

/** Returns the open of the session at an instant, or of the next session if the exchange is closed, ms since the epoch. */
export function tradesFrom(fromMs: number): number {
  const from = newYorkDate(fromMs);
  return openOf(isTradingDay(from) && fromMs < closeOf(from) ? from : nextTradingDay(from));
}

/** Returns the New York date of an instant. */
export function newYorkDate(atMs: number): string {
  for (const day of lastDays) if (atMs >= day.from && atMs < day.to) return day.date;
  const date = newYorkTime(atMs).slice(0, 10);
  if (atMs >= 0 && atMs < YEARS_END) {
    lastDays.pop();
    lastDays.unshift({ date, from: newYorkInstant(date, '00:00'), to: newYorkInstant(addDays(date, 1), '00:00') });
  }
  return date;
}

/** The last results of `newYorkDate`, newest first, for instants before `to`. `Temporal` is slow, and most calls are for the same days. */
const lastDays = Array.from({ length: 4 }, () => ({ date: '', from: 0, to: 0 }));
/** Only dates of earlier instants are cached, because the start of the next day must have a year of four digits. */
const YEARS_END = Date.UTC(9999, 0, 1);

/** Returns the date and time in New York at an instant, `YYYY-MM-DDTHH:MM:SS`, with milliseconds if they are not zero. */
export function newYorkTime(atMs: number): string {
  const offset = offsetByLaw(atMs, 7, 6);
  if (offset !== undefined) return new Date(Math.floor(atMs) + offset).toISOString().replace(/\.?0*Z$/, '');
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(atMs))
    .toZonedDateTimeISO(NEW_YORK)
    .toPlainDateTime()
    .toString();
}

/** Returns the instant of a New York time (`HH:MM` or `HH:MM:SS`). In the repeated hour of autumn, returns the earlier instant. */
export function newYorkInstant(date: string, time: string): number {
  return instantOf(`${date}T${time}`);
}

/** Maximum number of cached instants: opens, closes and midnights. Chains and tapes need the same few instants repeatedly. */
const INSTANTS_MAX = 2_000;

const instantOf = memoize(INSTANTS_MAX, (local: string): number => {
  const asUtc = isDate(local.slice(0, 10)) && TIME.test(local.slice(10)) ? Date.parse(`${local}Z`) : Number.NaN;
  // An hour that spring skips counts from the offset of winter.
  const offset = offsetByLaw(asUtc, 3, 2);
  if (offset !== undefined) return asUtc - offset;
  return Temporal.PlainDateTime.from(local).toZonedDateTime(NEW_YORK).epochMilliseconds;
});

const TIME = /^T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?$/;
const HOUR_MS = 3_600_000;
/** The years in which New York keeps the present law of daylight saving time, ms since the epoch. */
const [LAW_FROM, LAW_TO] = [Date.UTC(2007, 0, 2), Date.UTC(2100, 0, 1)];

/** Returns New York's offset by the law, ms, or `undefined`. The hours of the changes are in the time of `atMs`. `Temporal` starts in 8 ms. */
function offsetByLaw(atMs: number, begins: number, ends: number): number | undefined {
  if (!(atMs >= LAW_FROM && atMs < LAW_TO)) return undefined;
  const [first, last] = summerOf(new Date(atMs).getUTCFullYear());
  return (atMs >= first + begins * HOUR_MS && atMs < last + ends * HOUR_MS ? -4 : -5) * HOUR_MS;
}

/** Returns the days on which daylight saving time begins and ends, as the ms since the epoch of their midnights in UTC. */
const summerOf = memoize(100, (year: number) => {
  return [
    dayNumber(nthWeekday(year, 3, SUNDAY, 2)) * DAY_MS,
    dayNumber(nthWeekday(year, 11, SUNDAY, 1)) * DAY_MS,
  ] as const;
});

/** Returns whether the text is a valid calendar date, written `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** Returns the date `days` calendar days after `date`. If `days` is negative, returns an earlier date. */
export function addDays(date: string, days: number): string {
  return dateOf(dayNumber(date) + days);
}

/** Returns the number of calendar days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return dayNumber(to) - dayNumber(from);
}

/** Returns the day of the week, from 0 (Sunday) to 6 (Saturday). */
export function weekdayOf(date: string): number {
  // Day 0, 1970-01-01, was a Thursday.
  return (((dayNumber(date) + 4) % 7) + 7) % 7;
}

/** Returns the nth (1 to 5, or -1 for the last) `weekday` (0 Sunday to 6 Saturday) of a month (1 to 12). */
export function nthWeekday(year: number, month: number, weekday: number, nth: number): string {
  if (nth < 0) {
    const last = isoDate(year, month, daysInMonth(year, month));
    return addDays(last, -((weekdayOf(last) - weekday + 7) % 7));
  }
  const first = isoDate(year, month, 1);
  return addDays(first, ((weekday - weekdayOf(first) + 7) % 7) + 7 * (nth - 1));
}

const NEW_YORK = 'America/New_York';
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const [SUNDAY, MONDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY] = [0, 1, 3, 4, 5, 6];

interface Year {
  readonly holidays: ReadonlySet<string>;
  readonly halfDays: ReadonlySet<string>;
}

/** Maximum number of cached years. Dates have years of four digits, so there are at most 10,000 years. */
const YEARS_MAX = 10_000;

/** Returns the holidays and half days of a year. The function is memoized, because every series of a chain needs its result. */
const yearOf = memoize(
  YEARS_MAX,
  (year: string): Year => ({
    holidays: new Set(holidaysOf(Number(year))),
    halfDays: new Set(halfDaysOf(Number(year))),
  }),
);

function holidaysOf(year: number): string[] {
  const holidays = [
    nthWeekday(year, 2, MONDAY, 3), // Washington's Birthday
    addDays(easter(year), -2), // Good Friday
    nthWeekday(year, 5, MONDAY, -1), // Memorial Day
    observed(year, 7, 4), // Independence Day
    nthWeekday(year, 9, MONDAY, 1), // Labor Day
    nthWeekday(year, 11, THURSDAY, 4), // Thanksgiving
    observed(year, 12, 25), // Christmas
    ...UNSCHEDULED_CLOSURES.filter((date) => date.startsWith(`${year}-`)),
  ];
  if (year >= 1998) holidays.push(nthWeekday(year, 1, MONDAY, 3)); // Martin Luther King Day
  if (year >= 2022) holidays.push(observed(year, 6, 19)); // Juneteenth
  // A New Year's Day on a Saturday has no substitute holiday, because the preceding Friday is the end of an accounting year.
  const newYear = isoDate(year, 1, 1);
  if (weekdayOf(newYear) !== SATURDAY) holidays.push(observed(year, 1, 1));
  return holidays;
}

/**
 * Returns the days on which trading ends at 13:00: the day after Thanksgiving, Christmas Eve, the day before or after July 4, and the days
 * in UNSCHEDULED_HALF_DAYS. Christmas Eve and July 3 are half days only if they are a Monday, Tuesday, Wednesday or Thursday.
 */
function halfDaysOf(year: number): string[] {
  const halfDays = [addDays(nthWeekday(year, 11, THURSDAY, 4), 1)];
  const christmasEve = isoDate(year, 12, 24);
  if (isMondayToThursday(christmasEve)) halfDays.push(christmasEve);
  const july3 = isoDate(year, 7, 3);
  // If July 4 is a Thursday, the half day is Wednesday, July 3 (until 2012: Friday, July 5).
  if (weekdayOf(july3) === WEDNESDAY && year < 2013) halfDays.push(isoDate(year, 7, 5));
  else if (isMondayToThursday(july3)) halfDays.push(july3);
  return [...halfDays, ...UNSCHEDULED_HALF_DAYS.filter((date) => date.startsWith(`${year}-`))];
}

const UNSCHEDULED_CLOSURES: readonly string[] = [
  '1994-04-27', // funeral of President Nixon
  ...['2001-09-11', '2001-09-12', '2001-09-13', '2001-09-14'], // attacks of September 11
  '2004-06-11', // funeral of President Reagan
  '2007-01-02', // mourning for President Ford
  ...['2012-10-29', '2012-10-30'], // hurricane Sandy
  '2018-12-05', // mourning for President George H. W. Bush
  '2025-01-09', // mourning for President Carter
];

const UNSCHEDULED_HALF_DAYS: readonly string[] = ['1997-12-26', '1999-12-31', '2003-12-26'];

/** Returns the closed day for a holiday with a fixed date: the Friday before a Saturday, and the Monday after a Sunday. */
function observed(year: number, month: number, day: number): string {
  const date = isoDate(year, month, day);
  const weekday = weekdayOf(date);
  return addDays(date, weekday === SATURDAY ? -1 : weekday === SUNDAY ? 1 : 0);
}

/** Returns Easter Sunday in the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8). */
function easter(year: number): string {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const g = Math.floor((8 * b + 13) / 25);
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31);
  return isoDate(year, month, ((h + l - 7 * m + 114) % 31) + 1);
}

function isMondayToThursday(date: string): boolean {
  const weekday = weekdayOf(date);
  return weekday >= MONDAY && weekday < FRIDAY;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the number of days since 1970-01-01. */
const dayNumber = memoize(DATES_MAX, (date: string) => Math.round(Date.parse(`${date}T00:00:00Z`) / DAY_MS));

const dateOf = memoize(DATES_MAX, (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10));

/** Returns an instant as ISO 8601 text. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function isoDate(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
