import { memoize } from '../../core/cache.ts';
import { cleanLine } from '../../core/clean-text.ts';
import { closeOf, isDate, isTradingDay, newYorkDate, openOf } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';

/** The orders of day, month and year in a date. `YMD` is also the order of `20260821`, and `YYMMDD` stands for six digits. */
export const DATE_ORDERS = ['YMD', 'MDY', 'DMY', 'YYMMDD'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** How to read the times of a table that do not say everything themselves. */
export interface TimeForms {
  /** The order of dates such as `04/05/2019`. If omitted, the column decides. */
  readonly order?: DateOrder | undefined;
  /** The zone of times without a zone, for example `America/New_York`. If omitted, such times are refused. */
  readonly zone?: string | undefined;
  /** The time of day of dates without a time, `HH:MM` in New York. If omitted, it is the close of the exchange on that day. */
  readonly close?: string | undefined;
}

/** A date or a time, as far as its text states it. */
interface Written {
  /** `YYYY-MM-DD`, or `undefined` if day and month could be either. */
  readonly date?: string;
  /** The numbers of a date whose order is open. */
  readonly parts?: readonly [first: number, second: number, year: number];
  /** Microseconds since midnight. 0 for a date without a time. */
  readonly micros: number;
  /** Minutes ahead of UTC, the zone of New York, or `undefined` if the text names no zone. */
  readonly zone?: number | 'America/New_York';
  /** A time as a number, microseconds since the epoch. */
  readonly epochMicros?: number;
}

const NUMERIC = /^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?=$|[T ,])/;
const DAY_MONTH = /^(\d{1,2})[- ]?([A-Za-z]{3,9})[-. ,]*(\d{2,4})(?=$|[T ,])/;
const MONTH_DAY = /^([A-Za-z]{3,9})\.?[- ](\d{1,2})[-, ]+(\d{4})(?=$|[T ,])/;
const TIME =
  /^[T ,]*(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([AP])\.?M\.?)?(?: ?(Z|UTC|GMT|E[SD]?T|[+-]\d\d(?::?\d\d)?))?$/i;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads a date or a time in any accepted form. Returns `undefined` for other texts and for dates that do not exist. */
function writtenIn(text: string, order: DateOrder | undefined): Written | undefined {
  if (/^\d{9,19}(?:\.\d+)?$/.test(text)) return { micros: 0, epochMicros: epochMicros(text) };
  const [match, year, month, day] = datePartsIn(text, order) ?? [];
  if (match === undefined) return undefined;
  const time = timeIn(text.slice(match.length));
  if (time === undefined) return undefined;
  if (year !== undefined) {
    const date = isoDate(year, month!, day!);
    return isDate(date) ? { date, ...time } : undefined;
  }
  const [, first, second, last] = NUMERIC.exec(text)!;
  const parts = [Number(first), Number(second), fullYear(last!)] as const;
  if (order === 'MDY' || order === 'DMY') {
    const date = dateInOrder(parts, order);
    return isDate(date) ? { date, ...time } : undefined;
  }
  return order === undefined ? { parts, ...time } : undefined;
}

/** Returns the text of a date at the start of a text, and its year, month and day unless the order of the first two numbers is open. */
function datePartsIn(text: string, order: DateOrder | undefined): [string, number?, number?, number?] | undefined {
  if (/^\d{8}(?=$|[T ])/.test(text) && (order ?? 'YMD') === 'YMD')
    return [text.slice(0, 8), Number(text.slice(0, 4)), Number(text.slice(4, 6)), Number(text.slice(6, 8))];
  if (/^\d{6}$/.test(text) && order === 'YYMMDD')
    return [text, fullYear(text.slice(0, 2)), Number(text.slice(2, 4)), Number(text.slice(4))];
  const numeric = NUMERIC.exec(text);
  if (numeric) {
    const [all, first, second, third] = numeric;
    if (first!.length === 4)
      return third!.length <= 2 ? [all, Number(first), Number(second), Number(third)] : undefined;
    return first!.length <= 2 && (third!.length === 2 || third!.length === 4) ? [all] : undefined;
  }
  const named = DAY_MONTH.exec(text);
  const [all, month, day, year] = named ? [named[0], named[2], named[1], named[3]] : (MONTH_DAY.exec(text) ?? []);
  if (all === undefined) return undefined;
  return [all, fullYear(year!), MONTHS.indexOf(month!.slice(0, 3).toLowerCase()) + 1, Number(day)];
}

/** Returns the time of day and the zone of the rest of a text, or `undefined` if the rest is not a time. */
function timeIn(rest: string): Pick<Written, 'micros' | 'zone'> | undefined {
  if (rest === '') return { micros: 0 };
  const match = TIME.exec(rest);
  if (match === null) return undefined;
  const [, hourText, minute, second = '0', fraction = '', half, zone] = match;
  const shown = Number(hourText);
  if (half !== undefined && (shown < 1 || shown > 12)) return undefined;
  const hour = half === undefined ? shown : (shown % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  if (hour > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = hour * 3_600 + Number(minute) * 60 + Number(second);
  const micros = seconds * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6));
  return zone === undefined ? { micros } : { micros, zone: zoneOf(zone.toUpperCase()) };
}

function zoneOf(name: string): number | 'America/New_York' {
  if (name === 'ET') return 'America/New_York';
  if (name === 'EST' || name === 'EDT') return name === 'EST' ? -300 : -240;
  const offset = /^([+-])(\d\d):?(\d\d)?$/.exec(name);
  return offset ? Number(`${offset[1]}1`) * (60 * Number(offset[2]) + Number(offset[3] ?? 0)) : 0;
}

function fullYear(text: string): number {
  const year = Number(text);
  return text.length > 2 ? year : year + (year >= 70 ? 1900 : 2000);
}

function dateInOrder([first, second, year]: readonly [number, number, number], order: 'MDY' | 'DMY'): string {
  return order === 'MDY' ? isoDate(year, first, second) : isoDate(year, second, first);
}

function isoDate(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/**
 * Converts a number of seconds, milliseconds, microseconds or nanoseconds since the epoch to microseconds. From 1973 to the year 5138, each
 * unit has a range of its own. Digits beyond microseconds are cut, and no digit before them is lost.
 */
export function epochMicros(text: string): number {
  const [whole = '', fraction = ''] = text.split('.');
  const unit = whole.length <= 11 ? 6 : whole.length <= 14 ? 3 : whole.length <= 17 ? 0 : -3;
  if (unit < 0) return Number(whole.slice(0, unit));
  return Number(`${whole}${fraction.padEnd(unit, '0').slice(0, unit)}`);
}

/** Maximum number of different texts of a column from which its form is decided. */
export const FORM_TEXTS_MAX = 20_000;

/** The form of a column of dates or times, which all of its texts share. */
interface ColumnForm {
  readonly order: DateOrder | undefined;
  /** True if no text has a time other than midnight: the column has dates, which programs often write as midnights. */
  readonly isOfDates: boolean;
}

/**
 * Decides the form of a column from its texts. Day and month never swap: a number above 12 in any text decides their order for all. Throws
 * a `ClientError` that names the column and a text if the order stays open, or if two texts contradict each other.
 */
function formOf(column: string, texts: Iterable<string>, order: DateOrder | undefined): ColumnForm {
  let isOfDates = true;
  let open: string | undefined;
  const seen: Partial<Record<'MDY' | 'DMY', string>> = {};
  for (const text of texts) {
    const written = writtenIn(text, order);
    if (written === undefined && order !== undefined && isInOtherOrder(text, order)) {
      throw unreadable(
        `column ${column} has "${text}", which is no date in the order ${order}. State the order in a mapping`,
      );
    }
    if (written === undefined) continue;
    if (written.micros !== 0 || written.epochMicros !== undefined) isOfDates = false;
    if (written.parts === undefined) continue;
    const [first, second] = written.parts;
    if (first > 12 && second <= 12) seen.DMY ??= text;
    else if (second > 12 && first <= 12) seen.MDY ??= text;
    else open ??= text;
  }
  if (seen.MDY !== undefined && seen.DMY !== undefined) {
    throw unreadable(
      `column ${column} has dates of two orders, "${seen.MDY}" and "${seen.DMY}". Write all dates as YYYY-MM-DD`,
    );
  }
  const found = seen.MDY !== undefined ? 'MDY' : seen.DMY !== undefined ? 'DMY' : undefined;
  if (order === undefined && found === undefined && open !== undefined) {
    throw unreadable(
      `column ${column} has dates such as "${open}", in which day and month could be either. State the order in a mapping: date = "MDY" or "DMY"`,
    );
  }
  return { order: order ?? found, isOfDates };
}

function isInOtherOrder(text: string, order: DateOrder): boolean {
  const other = order === 'MDY' ? 'DMY' : order === 'DMY' ? 'MDY' : undefined;
  return other !== undefined && writtenIn(text, other) !== undefined;
}

/**
 * Returns a function that reads the dates of a column as `YYYY-MM-DD`, or `undefined`. Programs write dates as numbers or as times in UTC, which
 * are midnights of their own zone: `zone` if it is given, UTC or New York. Throws like `formOf`. The function throws if they are no midnights.
 */
export function dateReader(
  column: string,
  texts: Iterable<string>,
  order?: DateOrder,
  zone?: string,
): (text: string) => string | undefined {
  const form = formOf(column, texts, order);
  const instants = new Map<string, number>();
  for (const text of texts) {
    const ms = instantOfDate(writtenIn(text, form.order));
    if (ms !== undefined) instants.set(text, ms);
  }
  // Without use, no rule is needed: symbols may state the expiries.
  let dayOf: ((ms: number) => string) | undefined;
  return memoize(DATES_CACHED_MAX, (text: string) => {
    const written = writtenIn(text, form.order);
    const ms = instantOfDate(written);
    if (ms === undefined) return written?.date;
    dayOf ??= daysOfInstants(column, instants, zone);
    return dayOf(ms);
  });
}

/** Returns a function that reads the New York dates of a column of times, or `undefined`. Throws like `formOf`. */
export function dayOfTimeReader(
  column: string,
  texts: Iterable<string>,
  order?: DateOrder,
): (text: string) => string | undefined {
  const form = formOf(column, texts, order);
  return memoize(DATES_CACHED_MAX, (text: string) => {
    const written = writtenIn(text, form.order);
    return written?.epochMicros === undefined ? written?.date : newYorkDate(written.epochMicros / 1_000);
  });
}

/** Returns the instant of a date that is written as a number or as a time in UTC, ms since the epoch. */
function instantOfDate(written: Written | undefined): number | undefined {
  if (written?.epochMicros !== undefined) return written.epochMicros / 1_000;
  if (written?.date === undefined || written.zone !== 0) return undefined;
  return Date.parse(`${written.date}T00:00Z`) + written.micros / 1_000;
}

/** Returns a function from the instants of a column to their dates. Throws a `ClientError` if no rule gives a date for all of them. */
function daysOfInstants(column: string, instants: ReadonlyMap<string, number>, zone?: string): (ms: number) => string {
  const midnightsOf = (of: string) => (ms: number) => {
    const at = Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(of);
    return at.startOfDay().equals(at) ? at.toPlainDate().toString() : undefined;
  };
  const rules = [
    ...(zone === undefined ? [] : [midnightsOf(zone)]),
    midnightsOf('UTC'),
    midnightsOf(NEW_YORK),
    dateOfSession,
  ];
  const rule = rules.find((dateOf) => instants.values().every((ms) => dateOf(ms) !== undefined));
  if (rule) return (ms) => rule(ms) ?? utcDate(ms);
  const [text, ms] = [...instants].find(([, each]) => rules[0]!(each) === undefined)!;
  throw unreadable(
    `column ${column} has ${cleanLine(text, 40)}, which is ${new Date(ms).toISOString()} and no midnight of ${zone ?? 'UTC or New York'}. State the zone of its midnights: --zone Europe/Berlin, or zone in a mapping`,
  );
}

/** Returns the New York date of an opening or of a close, which some vendors write for a date. Index options close a quarter of an hour later. */
function dateOfSession(ms: number): string | undefined {
  const date = newYorkDate(ms);
  const close = closeOf(date);
  return [openOf(date), close, close + 15 * 60_000].includes(ms) ? date : undefined;
}

function utcDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/**
 * Returns a function that reads the times of a column in microseconds since the epoch, or `undefined`. A date without a time stands for the
 * close on that day. Throws like `formOf`, and if the column has times without a zone and `forms` has none. The function throws like `closingTime`.
 */
export function instantReader(
  column: string,
  texts: Iterable<string>,
  { order, zone, close }: TimeForms,
): (text: string) => number | undefined {
  const form = formOf(column, texts, order);
  return (text) => {
    const written = writtenIn(text, form.order);
    if (written === undefined) return undefined;
    if (written.epochMicros !== undefined) return written.epochMicros;
    const { date } = written;
    if (date === undefined) return undefined;
    if (form.isOfDates) return 1_000 * closingTime(date, close, column.startsWith('--') ? column : `column ${column}`);
    const at = written.zone ?? zone;
    if (at === undefined) {
      const named = column.startsWith('--') ? column : `column ${column}`;
      throw unreadable(
        `${named} has times without a time zone, such as "${text}". State the zone: --zone America/New_York, or zone in a mapping`,
      );
    }
    const minutes = Math.floor(written.micros / 60e6);
    const minute = `${date}T${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
    const start = typeof at === 'number' ? minuteStartIn(minute, 'UTC') - at * 60e6 : minuteStartIn(minute, at);
    return start + (written.micros % 60e6);
  };
}

const NEW_YORK = 'America/New_York';

/**
 * Returns the close on a date, ms since the epoch: 16:00 in New York, 13:00 on a half day, or the stated time `close`. Throws a `ClientError` on a
 * day without trading, whose quotes are those of another day. `where` says where the date stands.
 */
export function closingTime(date: string, close: string | undefined, where: string): number {
  if (!isTradingDay(date)) {
    throw unreadable(
      `${where} has the date ${date}, on which the exchange is shut, so it has no close. State the day of the quotes, or a time`,
    );
  }
  return close === undefined ? closeOf(date) : minuteStartIn(`${date}T${close}`, NEW_YORK) / 1_000;
}

/** Returns the start of a minute, such as `2026-08-21T15:45`, in a zone, microseconds since the epoch. */
export function minuteStartIn(minute: string, zone: string): number {
  return minuteStart(`${minute} ${zone}`);
}

const minuteStart = memoize(10_000, (key: string) => {
  const [minute = '', zone = ''] = key.split(' ');
  return Temporal.PlainDateTime.from(minute).toZonedDateTime(zone).epochMilliseconds * 1_000;
});

const DATES_CACHED_MAX = 4_096;

/** Returns whether a text is the name of a time zone. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
