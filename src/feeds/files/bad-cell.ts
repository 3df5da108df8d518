import { cleanLine } from '../../core/clean-text.ts';
import { STRIKE_MAX } from '../../market/build-chain.ts';
import { isDate } from '../../market/calendar.ts';
import { canonicalTicker, isTicker, parseCallPut } from '../../market/option-symbol.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { cellNumber } from '../numbers.ts';

/** Why a row of a chain table cannot be read. */
export type BadRow = 'malformed_row' | 'bad_symbol' | 'bad_contract' | 'bad_as_of';

interface Cell {
  readonly column: string;
  /** What the cell should be. */
  readonly form: string;
}

const OTHER_CELLS: Partial<Record<BadRow, Cell>> = {
  bad_symbol: { column: 'symbol', form: 'an OSI symbol such as AAPL260918C00320000' },
  bad_as_of: { column: 'as_of', form: 'a time with its zone, such as 2026-08-21T20:00:00Z' },
};

/** The cells that name a contract without a symbol. */
const CONTRACT_CELLS: readonly (Cell & { isRight(text: string): boolean })[] = [
  { column: 'underlying', form: 'a ticker', isRight: (text) => isTicker(canonicalTicker(text)) },
  { column: 'expiry', form: 'a date such as 2026-08-21', isRight: isDate },
  { column: 'put_call', form: 'a side: C, P, CALL or PUT', isRight: (text) => parseCallPut(text) !== undefined },
  { column: 'strike', form: 'a strike: 500, 1,250.5', isRight: (text) => isStrike(cellNumber(text)) },
];

export function isStrike(strike: number): boolean {
  return strike > 0 && strike <= STRIKE_MAX;
}

/** Says which cell of row `count` cannot be read, and what it should be. */
export function badCell(reason: BadRow, row: RowScanner, count: number, header: readonly string[]): string {
  if (reason === 'malformed_row') return `row ${count} has ${row.count} cells, and the header ${header.length}`;
  const text = (column: string) => row.text(header.indexOf(column));
  const { column, form } =
    OTHER_CELLS[reason] ?? CONTRACT_CELLS.find(({ column, isRight }) => !isRight(text(column))) ?? CONTRACT_CELLS[0]!;
  return `row ${count}, column "${column}": "${cleanLine(text(column), 40)}" is not ${form}`;
}
