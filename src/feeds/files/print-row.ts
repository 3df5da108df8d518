import { DAY_MS } from '../../market/calendar.ts';
import type { Print } from '../../market/prints.ts';
import { cellNumber } from '../numbers.ts';
import { AFTER_EXPIRY_MS_MAX, PRICE_MAX, SIZE_MAX } from '../print-bounds.ts';
import { executionOf } from '../print-execution.ts';
import type { Columns } from './print-columns.ts';
import { type NoContract, type PrintedContract, rememberedContracts } from './print-contract.ts';
import { PrintIdentity } from './print-identity.ts';
import { sideOf } from './print-side.ts';
import { executedMicros } from './print-time.ts';
import { remembering } from './remembering.ts';

/** Reads the cells of one row. Returns the print, or the reason why the row is rejected. `nowMs` is the wall clock. */
export type RowReader = (cells: readonly string[], nowMs: number) => Print | Refused;

/**
 * Returns a reader for the rows of one tape. `at` has the index of each column. The reader tells equal rows apart by their order, so call
 * it once per row, in the order of the tape. A trade dated more than a day after the wall clock is rejected, because flow is measured back
 * from the last trade.
 */
export function rowReader(at: Columns): RowReader {
  const contracts = rememberedContracts();
  const executions = remembering(([flags = '', condition = '']) => executionOf(flags, condition));
  const identity = new PrintIdentity();

  return (cells, nowMs) => {
    const cell = (column: number) => (column < 0 ? '' : cells[column]!.trim());

    const micros = executedMicros(cell(at.executed_at));
    if (Number.isNaN(micros)) return 'bad_time';
    const ms = Math.floor(micros / 1000);
    if (ms < AT_MIN || ms > nowMs + AHEAD_MS_MAX) return 'implausible_time';

    const contract = contracts(
      cell(at.option_chain_id),
      cell(at.underlying_symbol),
      cell(at.expiry),
      cell(at.option_type),
      cell(at.strike),
    );
    if (typeof contract === 'string') return contract;
    if (ms - contract.expiryMs > AFTER_EXPIRY_MS_MAX) return 'expired';

    const price = cellNumber(cell(at.price));
    if (!(price > 0 && price <= PRICE_MAX)) return 'bad_price';
    const size = cellNumber(cell(at.size));
    if (!(Number.isInteger(size) && size > 0 && size <= SIZE_MAX)) return 'bad_size';

    const execution = executions(`${cell(at.report_flags)}\n${cell(at.upstream_condition_detail)}`);
    const given = cell(at.id) || withinDay(ms, contract, cell(at.trade_id) || cell(at.sequence));
    if (given.length > ID_LENGTH_MAX) return 'bad_id';
    const trade = `${micros}|${contract.symbol}|${price}|${size}|${cell(at.exchange)}`;
    const canceled = execution.canceled || TRUE.test(cell(at.canceled));
    const bid = cellNumber(cell(at.nbbo_bid));
    const ask = cellNumber(cell(at.nbbo_ask));
    const isQuote = bid >= 0 && ask >= 0 && bid + ask < Number.POSITIVE_INFINITY;
    const delta = cellNumber(cell(at.delta));
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
      side: sideOf(cell(at.side), cell(at.tags)),
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

type Refused = NoContract | 'bad_time' | 'implausible_time' | 'expired' | 'bad_price' | 'bad_size' | 'bad_id';

/**
 * Trades before AT_MIN are older than electronic records. Trades further ahead than AHEAD_MS_MAX cannot be explained by differing clocks.
 */
const AT_MIN = Date.UTC(1990, 0, 1);
const AHEAD_MS_MAX = DAY_MS;
const ID_LENGTH_MAX = 100;

const TRUE = /^(?:t|true|1|y|yes)$/i;

/** Exchanges restart their trade numbers each day, and some number the trades of each contract separately. */
function withinDay(ms: number, { symbol }: PrintedContract, number: string): string {
  return number && `${Math.floor(ms / DAY_MS)}-${symbol}-${number}`;
}
