import type { Steps } from '../../core/steps.ts';
import { isDate } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import type { Close } from '../../market/prints.ts';
import { cellNumber } from '../numbers.ts';
import { type Table, tableFormat } from './cells.ts';
import { readDailyRows } from './daily-rows.ts';
import type { FileFacts } from './format.ts';

/** The format of daily closes: the columns `date,ticker,close` in any order, and optionally `volume` (shares traded). */
export const closesCsv = tableFormat(isClosesHeader, closesOf);

/** Reads the closes of a table. Adds a rejection if some rows are not valid closes. Throws a `ClientError` if no row is a close. */
export function closesOf(table: Pick<Table, 'header' | 'rows'>, file: FileFacts): Steps<Delivery[]> {
  return readDailyRows(table, file, {
    name: 'close',
    read(cell): Close | undefined {
      const [ticker, date, close] = [canonicalTicker(cell('ticker')), cell('date'), cellNumber(cell('close'))];
      const isValid = isDate(date) && isTicker(ticker) && close > 0 && close <= CLOSE_MAX;
      return isValid
        ? { ticker, date, close, volume: sharesOf(cellNumber(cell('volume'))), simulated: false }
        : undefined;
    },
    delivery: (closes) => ({ kind: 'closes', closes }),
  });
}

const COLUMNS = ['date', 'ticker', 'close'];
const CLOSE_MAX = 1e9;
const SHARES_MAX = 1e12;

function sharesOf(value: number): number | null {
  return value > 0 && value <= SHARES_MAX ? value : null;
}

/** Returns whether a line is the header of a table of closes. The cells are in lower case. */
export function isClosesHeader(cells: readonly string[]): boolean {
  return COLUMNS.every((name) => cells.includes(name));
}
