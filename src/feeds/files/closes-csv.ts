import { isDate } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import type { Close } from '../../market/prints.ts';
import { cellNumber } from '../numbers.ts';
import { unreadable } from '../refused.ts';
import { hasHeader, readTable, type Table } from './cells.ts';
import type { FileFacts, Format } from './format.ts';

/** Daily closes: `date,ticker,close` in any order, with `volume` (shares traded) where it is known. */
export const closesCsv: Format = {
  claims: (text) => hasHeader(text, isClosesHeader),
  // biome-ignore lint/correctness/useYield: a year of closes is read in one piece
  *read(file) {
    return closesOf(readTable(file.text, isClosesHeader), file);
  },
};

/** The closes of a table. Throws a Failure where no row is one. */
export function closesOf({ header, rows }: Pick<Table, 'header' | 'rows'>, { origin }: FileFacts): Delivery[] {
  const [date, ticker, close, volume] = [...COLUMNS, 'volume'].map((name) => header.indexOf(name)) as Places;
  const closes = rows.flatMap((row): Close[] => {
    const read = {
      ticker: canonicalTicker(row[ticker] ?? ''),
      date: (row[date] ?? '').trim(),
      close: cellNumber(row[close]),
      volume: sharesOf(cellNumber(row[volume])),
    };
    const sound = isDate(read.date) && isTicker(read.ticker) && read.close > 0 && read.close <= CLOSE_MAX;
    return sound ? [{ ...read, simulated: false }] : [];
  });
  if (closes.length === 0) throw unreadable(`none of ${rows.length} rows is a close`);
  const deliveries: Delivery[] = [{ kind: 'closes', closes }];
  const bad = rows.length - closes.length;
  if (bad > 0) deliveries.push({ kind: 'refusal', origin, reason: `${bad} of ${rows.length} rows are no close` });
  return deliveries;
}

const COLUMNS = ['date', 'ticker', 'close'];
type Places = [date: number, ticker: number, close: number, volume: number];
const CLOSE_MAX = 1e9;
const SHARES_MAX = 1e12;

function sharesOf(value: number): number | null {
  return value > 0 && value <= SHARES_MAX ? value : null;
}

export function isClosesHeader(cells: readonly string[]): boolean {
  return COLUMNS.every((name) => cells.includes(name));
}
