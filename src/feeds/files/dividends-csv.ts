import { isDate } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import { type InPieces, PIECE_ROWS } from '../in-pieces.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';
import { hasHeader, readTable, type Table } from './cells.ts';
import type { FileFacts, Format } from './format.ts';

/** The format of cash dividends: the columns `ticker,ex_date,amount` in any order, and optionally `status`. */
export const dividendsCsv: Format = {
  claims: (text) => hasHeader(text, isDividendsHeader),
  *read(file) {
    return yield* dividendsOf(readTable(file.text, isDividendsHeader), file);
  },
};

/**
 * Reads the dividends of a table. An amount of 0 means that there is no dividend on that date. Adds a rejection if some rows are not
 * dividends. Throws a `ClientError` if no row is a dividend.
 */
export function* dividendsOf(
  { header, rows }: Pick<Table, 'header' | 'rows'>,
  { origin }: FileFacts,
): InPieces<Delivery[]> {
  const [ticker, exDate, amount, status] = [...COLUMNS, 'status'].map((name) => header.indexOf(name)) as Indices;
  const deliveries: Delivery[] = [];
  let dividends: CashDividend[] = [];
  let count = 0;
  let bad = 0;
  for (const row of rows) {
    if (++count % PIECE_ROWS === 0) yield;
    const read = {
      ticker: canonicalTicker(row[ticker] ?? ''),
      exDate: (row[exDate] ?? '').trim(),
      amount: cellNumber(row[amount]),
      status: statusOf(row[status]),
    };
    if (!(isTicker(read.ticker) && isDate(read.exDate) && read.amount >= 0 && read.amount <= AMOUNT_MAX)) {
      bad++;
      continue;
    }
    if (dividends.length === DELIVERED_DIVIDENDS) dividends = [];
    if (dividends.length === 0) deliveries.push({ kind: 'dividends', dividends });
    dividends.push({ ...read, simulated: false });
  }
  if (deliveries.length === 0) throw unreadable(`none of ${count} rows is a dividend`);
  if (bad > 0) deliveries.push({ kind: 'rejection', origin, reason: `${bad} of ${count} rows are not dividends` });
  return deliveries;
}

/** Maximum number of dividends in a delivery, so that each delivery is written in a few milliseconds. */
const DELIVERED_DIVIDENDS = 500;

const COLUMNS = ['ticker', 'ex_date', 'amount'];
type Indices = [ticker: number, exDate: number, amount: number, status: number];
const AMOUNT_MAX = 1e9;
/** A few words. A longer text could imitate instructions to a model that reads the answer. */
const STATUS = /^[A-Za-z][A-Za-z0-9 _-]{0,31}$/;

function statusOf(cell: string | undefined): string | null {
  const text = cell?.trim() ?? '';
  return STATUS.test(text) ? text : null;
}

/** Returns whether a line is the header of a table of dividends. The cells are in lower case. */
export function isDividendsHeader(cells: readonly string[]): boolean {
  return COLUMNS.every((name) => cells.includes(name));
}
