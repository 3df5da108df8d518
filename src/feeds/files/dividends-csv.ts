import type { Steps } from '../../core/steps.ts';
import { isDate } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker, isTicker } from '../../market/option-symbol.ts';
import { type Table, tableFormat } from './cells.ts';
import { readDailyRows } from './daily-rows.ts';
import type { FileFacts } from './format.ts';

/** The format of cash dividends: the columns `ticker,ex_date,amount` in any order, and optionally `status`. */
export const dividendsCsv = tableFormat(isDividendsHeader, /ex_date/, dividendsOf);

/**
 * Reads the dividends of a table. An amount of 0 means that there is no dividend on that date. Adds a rejection if some rows are not
 * dividends. Throws a `ClientError` if no row is a dividend.
 */
export function dividendsOf(table: Table, file: FileFacts): Steps<Delivery[]> {
  return readDailyRows(table, file, {
    name: 'dividend',
    read({ text, number }): CashDividend | undefined {
      const [ticker, exDate, amount] = [canonicalTicker(text('ticker')), text('ex_date'), number('amount')];
      const isValid = isTicker(ticker) && isDate(exDate) && amount >= 0 && amount <= AMOUNT_MAX;
      return isValid ? { ticker, exDate, amount, status: statusOf(text('status')), simulated: false } : undefined;
    },
    delivery: (dividends) => ({ kind: 'dividends', dividends }),
  });
}

const COLUMNS = ['ticker', 'ex_date', 'amount'];
const AMOUNT_MAX = 1e9;
/** A status has a few words. A longer text could imitate instructions to an AI model that reads the answer. */
const STATUS = /^[A-Za-z][A-Za-z0-9 _-]{0,31}$/;

function statusOf(text: string): string | null {
  return STATUS.test(text) ? text : null;
}

/** Returns whether a line is the header of a table of dividends. The cells are in lower case. */
export function isDividendsHeader(cells: readonly string[]): boolean {
  return COLUMNS.every((name) => cells.includes(name));
}
