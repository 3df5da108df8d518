import { recordOf } from '../../core/record-of.ts';
import { DAY_MS } from '../../market/calendar.ts';
import type { Print } from '../../market/prints.ts';
import { cellNumber } from '../numbers.ts';
import { AFTER_EXPIRY_MS_MAX, PRICE_MAX, SIZE_MAX } from '../print-bounds.ts';
import { executionOf } from '../print-execution.ts';
import { unreadable } from '../rejections.ts';
import { memoizeCells } from './memoize-cells.ts';
import { contractReader, type NoContract, type PrintedContract } from './print-contract.ts';
import { PrintIdentity } from './print-identity.ts';
import { executedMicros } from './print-time.ts';

/** Returns the print of a row, or the reason why the row is rejected. `nowMs` is the wall clock, ms since the epoch. */
export type RowReader = (cells: readonly string[], nowMs: number) => Print | RejectReason;

/**
 * Returns a function that reads the rows of one tape. The ids of equal rows depend on their order, so call this function once per row, in
 * the order of the tape. The function rejects a trade more than a day ahead of the wall clock, because the last trade determines the end of
 * a flow window.
 */
export function rowReader(columns: Columns): RowReader {
  const contractOf = contractReader();
  const executions = memoizeCells(([flags = '', condition = '']) => executionOf(flags, condition));
  const identity = new PrintIdentity();

  return (cells, nowMs) => {
    const cell = (column: number) => (column < 0 ? '' : cells[column]!.trim());

    const micros = executedMicros(cell(columns.executed_at));
    if (Number.isNaN(micros)) return 'bad_time';
    const ms = Math.floor(micros / 1000);
    if (ms < AT_MIN || ms > nowMs + AHEAD_MS_MAX) return 'implausible_time';

    const contract = contractOf(
      cell(columns.option_chain_id),
      cell(columns.underlying_symbol),
      cell(columns.expiry),
      cell(columns.option_type),
      cell(columns.strike),
    );
    if (typeof contract === 'string') return contract;
    if (ms - contract.expiryMs > AFTER_EXPIRY_MS_MAX) return 'expired';

    const price = cellNumber(cell(columns.price));
    if (!(price > 0 && price <= PRICE_MAX)) return 'bad_price';
    const size = cellNumber(cell(columns.size));
    if (!(Number.isInteger(size) && size > 0 && size <= SIZE_MAX)) return 'bad_size';

    const execution = executions(`${cell(columns.report_flags)}\n${cell(columns.upstream_condition_detail)}`);
    const given = cell(columns.id) || idOfDay(ms, contract, cell(columns.trade_id) || cell(columns.sequence));
    if (given.length > ID_LENGTH_MAX) return 'bad_id';
    const trade = `${micros}|${contract.symbol}|${price}|${size}|${cell(columns.exchange)}`;
    const canceled = execution.canceled || TRUE.test(cell(columns.canceled));
    const bid = cellNumber(cell(columns.nbbo_bid));
    const ask = cellNumber(cell(columns.nbbo_ask));
    const isQuote = bid >= 0 && ask >= 0 && bid + ask < Number.POSITIVE_INFINITY;
    const delta = cellNumber(cell(columns.delta));
    return {
      id: given || identity.of(ms, trade, canceled),
      underlying: contract.underlying,
      root: contract.root,
      expiry: contract.expiry,
      callPut: contract.callPut,
      strike: contract.strike,
      price,
      size,
      multiplier: 100,
      at: ms,
      side: sideOf(cell(columns.side), cell(columns.tags)),
      bid: isQuote ? bid : null,
      ask: isQuote ? ask : null,
      delta: Math.abs(delta) <= 1 ? delta : null,
      multiLeg: execution.multiLeg,
      sweep: execution.sweep,
      block: execution.block,
      canceled,
      simulated: false,
    };
  };
}

type RejectReason = NoContract | 'bad_time' | 'implausible_time' | 'expired' | 'bad_price' | 'bad_size' | 'bad_id';

/** The earliest accepted time of a trade, ms since the epoch. Earlier trades are older than electronic records of trades. */
const AT_MIN = Date.UTC(1990, 0, 1);
/** The maximum time by which a trade may be ahead of the wall clock. Differences between clocks are smaller. A later trade is rejected. */
const AHEAD_MS_MAX = DAY_MS;
/** Maximum length of an id, characters. */
const ID_LENGTH_MAX = 100;

const TRUE = /^(?:t|true|1|y|yes)$/i;

/**
 * Returns an id that contains the exchange's number for a trade. Returns an empty text if the trade has no number. Exchanges restart their
 * numbers each day, and some exchanges number the trades of each contract separately. So the id contains the day and the contract.
 */
function idOfDay(ms: number, { symbol }: PrintedContract, number: string): string {
  return number && `${Math.floor(ms / DAY_MS)}-${symbol}-${number}`;
}

/**
 * Returns the side of a print for a word in the tape, such as `ask`, `above_ask` or `buy`. Returns null for any other word, such as
 * `no_side`. If the cell is empty, reads the side from the tags, such as `ask_side`.
 */
export function sideOf(cell: string, tags: string): Print['side'] {
  const usual = SIDES.get(cell);
  if (usual !== undefined) return usual;
  const word = cell === '' ? (/\b(ask|bid|mid)_side\b/i.exec(tags)?.[1] ?? '') : cell;
  const plain = word.toLowerCase().replace(/[ _-]side$/, '');
  return SIDES.get(plain.replace(/[ -]/g, '_')) ?? null;
}

const SIDES: ReadonlyMap<string, Print['side']> = new Map([
  ...['ask', 'at_ask', 'above_ask', 'buy', 'buyer', 'bought'].map((word) => [word, 'ask'] as const),
  ...['bid', 'at_bid', 'below_bid', 'sell', 'seller', 'sold'].map((word) => [word, 'bid'] as const),
  ...['mid', 'middle', 'between'].map((word) => [word, 'mid'] as const),
]);

/** The tape columns that the reader uses. */
export const PRINT_COLUMNS = [
  ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
  ...['side', 'tags', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'canceled'],
  ...['upstream_condition_detail', 'id', 'trade_id', 'sequence'],
] as const;
const CONTRACT_COLUMNS = ['underlying_symbol', 'expiry', 'option_type', 'strike'] as const;

/** Index of each column. The index is -1 for a column that the tape does not have. */
export type Columns = Readonly<Record<(typeof PRINT_COLUMNS)[number], number>>;

/** Finds the columns of a tape. Throws a `ClientError` if a required column is missing, or if a used column appears twice. */
export function printColumnsOf(header: readonly string[]): Columns {
  const needed = ['price', 'size', ...(header.includes('option_chain_id') ? [] : CONTRACT_COLUMNS)];
  const missing = needed.filter((name) => !header.includes(name));
  if (missing.length > 0) throw unreadable(`the table has no column ${missing.join(', ')}`);
  const repeated = PRINT_COLUMNS.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (repeated.length > 0) throw unreadable(`column ${repeated.join(', ')} is named twice`);
  return recordOf(PRINT_COLUMNS, (name) => header.indexOf(name));
}

/** Returns whether a line is the header of a tape. The header of a tape names the time, and either the contract or the underlying. */
export function isPrintsHeader(cells: readonly string[]): boolean {
  const has = (name: string) => cells.includes(name);
  return has('executed_at') && (has('option_chain_id') || has('underlying_symbol'));
}
