import type { Steps } from '../../core/steps.ts';
import { isDate, newYorkInstant } from '../../market/calendar.ts';
import { type CashDividend, exInstant } from '../../market/cash-dividend.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import type { Close } from '../../market/prints.ts';
import { numberOf } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { type Table, tableFormat } from './cells.ts';
import { instantIn } from './file-time.ts';
import { type FileFacts, READING } from './format.ts';

/** How to read a table with one value per day, such as closes or dividends. */
interface DailyRows<Row extends object> {
  /** The singular noun for a row, such as `close`. */
  readonly name: string;
  /** Returns undefined if the row is not valid, and a reason if a valid row is of no use. */
  read(row: DailyCells): Row | string | undefined;
  /** Returns a delivery that contains `rows`. Further rows are added to `rows` after the call. */
  delivery(rows: Row[]): Delivery;
}

/** The cells of a row by the names of their columns. If the table does not have the column, the cell is empty. */
type DailyCells = { text(column: string): string; number(column: string): number };

/** Maximum number of rows in a delivery. The write of a delivery takes a few milliseconds. */
const DELIVERED_ROWS = 500;

/** Reads the rows of a table. Adds a rejection if some rows are not valid. Throws a `ClientError` if no row is valid. */
function* readDailyRows<Row extends object>(
  { header, rows }: Table,
  { origin }: FileFacts,
  { name, read, delivery }: DailyRows<Row>,
): Steps<Delivery[]> {
  // If two columns have the same name, the first column is used.
  const places = new Map(header.map((column, i) => [column, i] as const).reverse());
  const deliveries: Delivery[] = [];
  let batch: Row[] = [];
  let count = 0;
  const bad = `are not ${name}s`;
  const rejected: Record<string, number> = {};
  for (const row of rows) {
    if (row === undefined) {
      yield READING;
      continue;
    }
    count++;
    const at = (column: string) => places.get(column) ?? -1;
    const valid = read({ text: (column) => row.text(at(column)), number: (column) => numberOf(row, at(column)) });
    if (valid === undefined || typeof valid === 'string') {
      countRejected(rejected, valid ?? bad);
      continue;
    }
    if (batch.length === DELIVERED_ROWS) batch = [];
    if (batch.length === 0) deliveries.push(delivery(batch));
    batch.push(valid);
  }
  const reason = Object.entries(rejected).map(([why, rows]) => `${rows} of ${count} rows ${why}`);
  if ((rejected[bad] ?? 0) === count) throw unreadable(`none of ${count} rows is a ${name}`);
  if (reason.length > 0) deliveries.push({ kind: 'rejection', origin, reason: reason.join('; ') });
  return deliveries;
}

/** The format of daily closes: the columns `date,ticker,close` in any order, and optionally `volume` (shares traded). */
export const closesCsv = tableFormat(isClosesHeader, /close/, (table, file) =>
  readDailyRows(table, file, {
    name: 'close',
    read({ text, number }): Close | undefined {
      const [ticker, date, close] = [canonicalTicker(text('ticker')), text('date'), number('close')];
      const isValid = isDate(date) && isTicker(ticker) && close > 0 && close <= VALUE_MAX;
      return isValid ? { ticker, date, close, volume: sharesOf(number('volume')), simulated: false } : undefined;
    },
    delivery: (closes) => ({ kind: 'closes', closes }),
  }),
);

/**
 * The format of cash dividends: the columns `ticker,ex_date,amount` in any order, and optionally `status` and `known_from`, an ISO 8601 instant
 * or a date, which begins at midnight in New York. Without `known_from`, a dividend is known from the reading on. 0 means no dividend.
 */
export const dividendsCsv = tableFormat(isDividendsHeader, /ex_date/, (table, file) =>
  readDailyRows(table, file, {
    name: 'dividend',
    read({ text, number }): CashDividend | string | undefined {
      const [ticker, exDate, amount] = [canonicalTicker(text('ticker')), text('ex_date'), number('amount')];
      const isValid = isTicker(ticker) && isDate(exDate) && amount >= 0 && amount <= VALUE_MAX;
      const stated = text('known_from');
      const knownFrom = stated === '' ? (file.readAtMs ?? Date.now()) : knownFromOf(stated);
      if (!isValid || knownFrom === undefined) return undefined;
      if (knownFrom >= exInstant(exDate)) return KNOWN_TOO_LATE;
      return { ticker, exDate, amount, status: statusOf(text('status')), knownFrom, simulated: false };
    },
    delivery: (dividends) => ({ kind: 'dividends', dividends }),
  }),
);

/** Why a dividend is of no use: analyses look at nothing that was learnt later, and after the ex-date the dividend does not matter. */
const KNOWN_TOO_LATE =
  'are dividends that became known after their ex-date, which no answer uses: state known_from, without it the time of the reading counts';

function knownFromOf(text: string): number | undefined {
  return isDate(text) ? newYorkInstant(text, '00:00') : instantIn(text);
}

/** The largest close or dividend, dollars. */
const VALUE_MAX = 1e9;
const SHARES_MAX = 1e12;
/** A status has a few words. A longer text could imitate instructions to an AI model that reads the answer. */
const STATUS = /^[A-Za-z][A-Za-z0-9 _-]{0,31}$/;

function sharesOf(value: number): number | null {
  return value > 0 && value <= SHARES_MAX ? value : null;
}

function statusOf(text: string): string | null {
  return STATUS.test(text) ? text : null;
}

/** Returns whether a line is the header of a table of closes. The cells are in lower case. */
export function isClosesHeader(cells: readonly string[]): boolean {
  return ['date', 'ticker', 'close'].every((name) => cells.includes(name));
}

/** Returns whether a line is the header of a table of dividends. The cells are in lower case. */
export function isDividendsHeader(cells: readonly string[]): boolean {
  return ['ticker', 'ex_date', 'amount'].every((name) => cells.includes(name));
}
