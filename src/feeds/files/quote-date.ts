import { isDate, newYorkInstant } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';

/**
 * Returns the time of a quote table, ms since the epoch, from the lines above its header: `Date: December 12, 2022 at 8:30 PM EST`, `Date:
 * February 5 2022, 8:26 PM EST`, `Date: 9 June 2023, 1:40 PM EDT` or `Jul 17 2026 @ 15:45 ET`. Without a zone, or with `ET`, the time is New
 * York time. Throws a `ClientError` if no line has a valid date, or if the zone is unknown.
 */
export function quoteDate(preamble: readonly string[]): number {
  for (const line of preamble) {
    const date = DAY_FIRST.exec(line) ?? MONTH_FIRST.exec(line);
    if (date?.groups === undefined) continue;
    const month = MONTHS.indexOf((date.groups.month ?? '').slice(0, 3).toLowerCase()) + 1;
    const day = `${date.groups.year}-${twoDigits(month)}-${twoDigits(Number(date.groups.day))}`;
    const time = timeOf(date.groups);
    if (month > 0 && isDate(day) && time !== undefined) return inZone(day, time, date.groups.zone);
  }
  const line = preamble.find((text) => /\bdate:/i.test(text));
  throw unreadable(
    line === undefined ? 'there is no date line above the header' : `the date line cannot be read: ${excerpt(line)}`,
  );
}

const TIME =
  '(?:,|\\s+at|\\s*@)?\\s+(?<hour>\\d{1,2}):(?<minute>\\d\\d)(?::(?<second>\\d\\d))?(?:\\s*(?<half>[AP])\\.?M\\b\\.?)?' +
  '(?:\\s*(?<zone>[A-Z]{1,4}(?:[+-]\\d{1,2}(?::?\\d\\d)?)?)\\b)?';
const MONTH_FIRST = new RegExp(`\\b(?<month>[A-Z]{3,9})\\.?\\s+(?<day>\\d{1,2}),?\\s+(?<year>\\d{4})${TIME}`, 'i');
const DAY_FIRST = new RegExp(`\\b(?<day>\\d{1,2})\\s+(?<month>[A-Z]{3,9})\\.?,?\\s+(?<year>\\d{4})${TIME}`, 'i');
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Offsets from UTC in hours, by the name of the zone: UTC and the time zones of the United States. */
const ZONE_HOURS: Readonly<Record<string, number>> = {
  ...{ UTC: 0, GMT: 0, Z: 0, EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 },
};

/** Returns the hour, the minute and the second of a match as `HH:MM:SS`, or `undefined` if the time is invalid. */
function timeOf(groups: Record<string, string | undefined>): string | undefined {
  const half = groups.half?.toUpperCase();
  const shown = Number(groups.hour);
  if (half !== undefined && (shown < 1 || shown > 12)) return undefined;
  const hour = half === undefined ? shown : (shown % 12) + (half === 'P' ? 12 : 0);
  if (hour > 23 || Number(groups.minute) > 59 || Number(groups.second ?? 0) > 59) return undefined;
  return `${twoDigits(hour)}:${groups.minute}:${groups.second ?? '00'}`;
}

/** Converts a date and a time in a zone to ms since the epoch. Throws a `ClientError` if the zone is unknown. */
function inZone(date: string, time: string, zone: string | undefined): number {
  const name = zone?.toUpperCase() ?? 'ET';
  if (name === 'ET') return newYorkInstant(date, time);
  const offset = /^(?:UTC|GMT)([+-])(\d{1,2}):?(\d\d)?$/.exec(name);
  const hours = offset ? Number(`${offset[1]}${Number(offset[2]) + Number(offset[3] ?? 0) / 60}`) : ZONE_HOURS[name];
  if (hours === undefined) throw unreadable(`the time zone of the date line is unknown: ${name}`);
  return Date.parse(`${date}T${time}Z`) - hours * 3_600_000;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function excerpt(line: string): string {
  return JSON.stringify(line.trim().slice(0, 80));
}
