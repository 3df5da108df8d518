import { buildChain } from '../../market/build-chain.ts';
import { isDate, newYorkInstant } from '../../market/calendar.ts';
import { ContractBatch, type QuoteField } from '../../market/contract-batch.ts';
import { optionSymbolIn } from '../../market/option-symbol.ts';
import { spotOf } from '../implied-spot.ts';
import { cellNumber, numberOf } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { readTable } from './cells.ts';
import { type Format, READING, sourceOf } from './format.ts';
import { underlyingOfMost } from './roots.ts';

/**
 * The format of the quote table that the exchange Cboe offers for download: a title line with `Last: 658.05`, a date line, a header, and one
 * row for each expiry and strike. The columns left of `Strike` belong to the call, those right of it to the put, in any order.
 */
export const quoteTable: Format = {
  claims(head) {
    const start = head.text.slice(0, 5_000);
    return head.findHeader(isHeader, WORDS) !== undefined || (/^[\t ]*"?date:/im.test(start) && LAST.test(start));
  },

  *read(file) {
    const { header, preamble, rows } = yield* readTable(file, isHeader, WORDS);
    yield READING;
    const strikeColumn = header.indexOf('strike');
    if (strikeColumn < 0) throw unreadable('the table has no column Strike');
    const call = columnsOf(header, CALLS, 0, strikeColumn);
    const put = columnsOf(header, PUTS, strikeColumn + 1, header.length);
    const asOf = quoteDate(preamble);

    const refused: Record<string, number> = {};
    using contracts = new ContractBatch();
    let count = 0;
    for (const row of rows) {
      if (row === undefined) {
        yield READING;
        continue;
      }
      count++;
      if (!row.isWhole(header.length)) {
        countRejected(refused, 'malformed_row');
        continue;
      }
      for (const columns of [call, put]) {
        const [start, end] = [row.start(columns.symbol), row.end(columns.symbol)];
        if (start === end) continue;
        const symbol = optionSymbolIn(row.bytes, start, end);
        if (symbol === undefined) {
          countRejected(refused, 'bad_symbol');
          continue;
        }
        contracts.add(symbol.series, symbol.callPut, symbol.strike, (field) => numberOf(row, columns[field]));
      }
    }
    if (contracts.rows.length === 0) throw unreadable(`none of ${count} rows has a symbol that can be read`);
    yield READING;
    const underlying = underlyingOfMost(contracts.series);
    const notes: string[] = [];
    const spot = spotOf(lastSale(preamble), contracts, contracts.rows, asOf, notes);
    yield READING;
    const head = { underlying, asOf, spot, source: sourceOf(file), simulated: false, refused };
    const chain = buildChain(head, contracts);
    return [{ kind: 'chain', chain, ...(notes.length > 0 && { notes }) }];
  },
};

const LAST = /\blast:\s*\$?([\d,]*\d(?:\.\d+)?)/i;
const CALLS = ['calls', 'call'];
const PUTS = ['puts', 'put'];
const WORDS = /\bcalls?\b|expiration date/;

/** The possible names of each column, in lower case. Older downloads use the short names. */
const NAMES: Readonly<Record<QuoteField, readonly string[]>> = {
  last: ['last sale', 'last', 'last trade'],
  bid: ['bid'],
  ask: ['ask'],
  volume: ['volume', 'vol'],
  iv: ['iv', 'implied volatility', 'imp vol'],
  delta: ['delta'],
  gamma: ['gamma'],
  openInterest: ['open interest', 'open int', 'open int.', 'oi'],
  // The quote table has no column for the multiplier.
  multiplier: [],
};

interface Columns extends Record<QuoteField, number> {
  readonly symbol: number;
}

/** Finds the columns of the calls or of the puts among the indices [from, to), or -1. Throws a `ClientError` if a required one is missing. */
function columnsOf(header: readonly string[], symbolNames: readonly string[], from: number, to: number): Columns {
  const find = (names: readonly string[]) => header.findIndex((name, i) => i >= from && i < to && names.includes(name));
  const symbol = find(symbolNames);
  const fields = Object.entries(NAMES).map(([field, names]) => [field, find(names)]);
  const columns: Columns = { symbol, ...(Object.fromEntries(fields) as Record<QuoteField, number>) };
  if (symbol < 0) throw unreadable(`the table has no column ${symbolNames[0]}`);
  if (columns.openInterest < 0) throw unreadable(`the table has no column Open Interest of the ${symbolNames[0]}`);
  return columns;
}

/** Returns the price of the underlying. The title has the price as `Last: 3,990.56`, or as its second cell in older downloads. */
function lastSale(preamble: readonly string[]): number | undefined {
  for (const pattern of [LAST, /^[^,"]+\([^)]*\)"?,\s*(\d+(?:\.\d+)?)\s*(?:,|$)/]) {
    for (const line of preamble) {
      const price = cellNumber(pattern.exec(line.trim())?.[1]);
      if (price > 0 && Number.isFinite(price)) return price;
    }
  }
  return undefined;
}

function isHeader(cells: readonly string[]): boolean {
  const has = (names: readonly string[]) => names.some((name) => cells.includes(name));
  return has(CALLS) ? has(PUTS) || has(['strike']) : has(['expiration date']) && has(['strike']);
}

/**
 * Returns the time of a quote table, ms since the epoch, from the lines above its header: `Date: December 12, 2022 at 8:30 PM EST`, `Date:
 * February 5 2022, 8:26 PM EST`, `Date: 9 June 2023, 1:40 PM EDT` or `Jul 17 2026 @ 15:45 ET`. Without a zone, or with `ET`, the time is New
 * York time. Throws a `ClientError` if no line has a valid date, or if the zone is unknown.
 */
function quoteDate(preamble: readonly string[]): number {
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
