import { isDate } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import type { Close } from '../../market/prints.ts';
import { type InPieces, PIECE_ROWS } from '../in-pieces.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';
import { hasHeader, readTable, type Table } from './cells.ts';
import type { FileFacts, Format } from './format.ts';

/** The format of daily closes: the columns `date,ticker,close` in any order, and optionally `volume` (shares traded). */
export const closesCsv: Format = {
  claims: (text) => hasHeader(text, isClosesHeader),
  *read(file) {
    return yield* closesOf(readTable(file.text, isClosesHeader), file);
  },
};

/** Reads the closes of a table. Adds a rejection if some rows are not valid closes. Throws a `ClientError` if no row is a close. */
export function* closesOf(
  { header, rows }: Pick<Table, 'header' | 'rows'>,
  { origin }: FileFacts,
): InPieces<Delivery[]> {
  const [date, ticker, close, volume] = [...COLUMNS, 'volume'].map((name) => header.indexOf(name)) as Indices;
  const deliveries: Delivery[] = [];
  let closes: Close[] = [];
  let count = 0;
  let bad = 0;
  for (const row of rows) {
    if (++count % PIECE_ROWS === 0) yield;
    const read = {
      ticker: canonicalTicker(row[ticker] ?? ''),
      date: (row[date] ?? '').trim(),
      close: cellNumber(row[close]),
      volume: sharesOf(cellNumber(row[volume])),
    };
    const isValid = isDate(read.date) && isTicker(read.ticker) && read.close > 0 && read.close <= CLOSE_MAX;
    if (!isValid) {
      bad++;
      continue;
    }
    if (closes.length === DELIVERED_CLOSES) closes = [];
    if (closes.length === 0) deliveries.push({ kind: 'closes', closes });
    closes.push({ ...read, simulated: false });
  }
  if (deliveries.length === 0) throw unreadable(`none of ${count} rows is a close`);
  if (bad > 0) deliveries.push({ kind: 'rejection', origin, reason: `${bad} of ${count} rows are not closes` });
  return deliveries;
}

/** Maximum number of closes in a delivery, so that each delivery is written in a few milliseconds. */
const DELIVERED_CLOSES = 500;

const COLUMNS = ['date', 'ticker', 'close'];
type Indices = [date: number, ticker: number, close: number, volume: number];
const CLOSE_MAX = 1e9;
const SHARES_MAX = 1e12;

function sharesOf(value: number): number | null {
  return value > 0 && value <= SHARES_MAX ? value : null;
}

/** Returns whether a line is the header of a table of closes. The cells are in lower case. */
export function isClosesHeader(cells: readonly string[]): boolean {
  return COLUMNS.every((name) => cells.includes(name));
}
