import Papa from 'papaparse';
import { DAY_MS, isDate } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import {
  canonicalTicker,
  formatOptionSymbol,
  type OptionSymbol,
  parseOptionSymbol,
  rootOf,
  rootOfTicker,
} from '../../market/option-symbol.ts';
import type { Print } from '../../market/prints.ts';
import { cellNumber, findHeader, hasHeader, isWholeRow, PREAMBLE_LINES_MAX } from './cells.ts';
import { countRefused, unreadable } from './format.ts';
import { linesOf } from './lines.ts';
import { CONDITIONS, executionOf } from './print-execution.ts';
import { PrintIdentity } from './print-identity.ts';
import { executedMicros } from './print-time.ts';
import { rootOn } from './root-on.ts';

/** Prints of a delivery, which is one transaction. */
const BATCH_PRINTS = 10_000;

export type PrintsDelivery = Extract<Delivery, { kind: 'prints' }>;

/** Whether the first lines of a text mean to be a tape. */
export function claimsPrints(head: string): boolean {
  return hasHeader(head, isHeader);
}

/**
 * Reads option trades as the widely sold end-of-day tape has them: `executed_at,underlying_symbol,option_chain_id,side,strike,
 * option_type,expiry,nbbo_bid,nbbo_ask,price,size,delta,exchange,report_flags,canceled,upstream_condition_detail` in any order, more
 * columns passed over. Indispensable are `executed_at`, `price`, `size`, and `option_chain_id` or the contract's own columns.
 *
 * A tape of a day is gigabytes: it comes in pieces and goes in batches, one at least. A bad row is refused and counted. So is a last
 * row that may be cut, where other tables are refused whole: a tape is only ever appended to, so that the rows before are good, and
 * the row itself comes with the whole file. Throws a Failure where the text is no tape.
 *
 * @param nowMs the wall clock: a trade dated a day after it is refused, for flow is measured back from the last one.
 */
export async function* readPrints(
  pieces: AsyncIterable<Uint8Array>,
  nowMs: number,
): AsyncGenerator<PrintsDelivery, void> {
  const above: string[] = [];
  let read: RowReader | undefined;
  let prints: Print[] = [];
  let refused: Record<string, number> = {};
  for await (const { lines, open } of linesOf(pieces)) {
    let rows = lines;
    if (!read) {
      above.push(...lines);
      const found = findHeader(above.slice(0, PREAMBLE_LINES_MAX), isHeader);
      if (!found && above.length >= PREAMBLE_LINES_MAX) break;
      if (!found) continue;
      read = rowReader(found.header, found.delimiter, nowMs);
      rows = above.slice(found.at + 1);
    }
    for (const row of rows) {
      if (row === '') continue;
      const print = read(row, open);
      if (typeof print === 'string') countRefused(refused, print);
      else prints.push(print);
    }
    if (prints.length >= BATCH_PRINTS) {
      yield { kind: 'prints', prints, refused };
      prints = [];
      refused = {};
    }
  }
  if (!read) throw unreadable('no header row was found');
  yield { kind: 'prints', prints, refused };
}

/** A line of plain column names, not prose about them. */
function isHeader(cells: readonly string[]): boolean {
  const has = (name: string) => cells.includes(name);
  return has('executed_at') && (has('option_chain_id') || has('underlying_symbol'));
}

type Refused =
  | 'malformed_row'
  | 'cut_row'
  | 'bad_time'
  | 'implausible_time'
  | 'bad_symbol'
  | 'bad_contract'
  | 'symbol_contradicts_columns'
  | 'expired'
  | 'bad_price'
  | 'bad_size'
  | 'bad_id';

type RowReader = (line: string, open: boolean) => Print | Refused;

/** Trades from before electronic records, or from further ahead than clocks differ. */
const AT_MIN = Date.UTC(1990, 0, 1);
const AHEAD_MS_MAX = DAY_MS;
/** From the first moment of the expiry date, UTC: its own day, and another for zones and late reports. */
const AFTER_EXPIRY_MS_MAX = 2 * DAY_MS;
/** Dollars per share: no option costs more than what it is about, and no index with options stands as high. */
const PRICE_MAX = 1e5;
/** Contracts: more than any open interest. */
const SIZE_MAX = 1e7;
const ID_LENGTH_MAX = 100;

function rowReader(header: readonly string[], delimiter: string, nowMs: number): RowReader {
  const at = columnsOf(header);
  const contracts = remembering(contractOf);
  const executions = remembering(([flags = '', condition = '']) => executionOf(flags, condition));
  const identity = new PrintIdentity();

  return (line, open) => {
    const cells = cellsOf(line, delimiter);
    if (open && mayBeCut(cells, header, at)) return 'cut_row';
    if (cells === undefined || (cells.length !== header.length && !isWholeRow(cells, header.length))) {
      return 'malformed_row';
    }
    const cell = (column: number) => (column < 0 ? '' : cells[column]!.trim());

    const micros = executedMicros(cell(at.executed_at));
    if (Number.isNaN(micros)) return 'bad_time';
    const ms = Math.floor(micros / 1000);
    if (ms < AT_MIN || ms > nowMs + AHEAD_MS_MAX) return 'implausible_time';

    const contract = contracts(
      `${cell(at.option_chain_id)}\n${cell(at.underlying_symbol)}\n${cell(at.expiry)}\n${cell(at.option_type)}\n${cell(at.strike)}`,
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

/** Every column that is read. */
const COLUMNS = [
  ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
  ...['side', 'tags', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'canceled'],
  ...['upstream_condition_detail', 'id', 'trade_id', 'sequence'],
] as const;
const CONTRACT_COLUMNS = ['underlying_symbol', 'expiry', 'option_type', 'strike'] as const;

/** Where each column is, -1 for those the tape does not have. */
type Columns = Readonly<Record<(typeof COLUMNS)[number], number>>;

function columnsOf(header: readonly string[]): Columns {
  const needed = ['price', 'size', ...(header.includes('option_chain_id') ? [] : CONTRACT_COLUMNS)];
  const missing = needed.filter((name) => !header.includes(name));
  if (missing.length > 0) throw unreadable(`missing column ${missing.join(', ')}`);
  const twice = COLUMNS.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (twice.length > 0) throw unreadable(`column ${twice.join(', ')} is named twice`);
  return Object.fromEntries(COLUMNS.map((name) => [name, header.indexOf(name)])) as Columns;
}

/** Cells of a row; undefined where a quote never closes. No cell of a tape has a line break in it. */
function cellsOf(line: string, delimiter: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(delimiter);
  const { data, errors } = Papa.parse<string[]>(line, { delimiter, newline: '\n' });
  return errors.length > 0 ? undefined : data[0];
}

/** Whether a row without its line break may lack something: `1` can be what is left of `100`, a known condition is whole. */
function mayBeCut(cells: readonly string[] | undefined, header: readonly string[], at: Columns): boolean {
  if (cells === undefined || cells.length < header.length) return true;
  const last = header.length - 1;
  if (!Object.values(at).includes(last)) return false;
  return last !== at.upstream_condition_detail || !CONDITIONS.has(cells[last]!.trim().toLowerCase());
}

type Contract = Pick<OptionSymbol, 'root' | 'underlying' | 'expiry' | 'callPut' | 'strike'>;

interface PrintedContract extends Contract {
  /** In one spelling, for the print's identity. */
  readonly symbol: string;
  readonly expiryMs: number;
}

type ContractCells = readonly string[];

/** The contract of a row. The symbol decides where there is one, and must not say other than the columns. */
function contractOf(cells: ContractCells): PrintedContract | Refused {
  const [symbol = '', ticker = '', expiry = '', type = '', strike = ''] = cells;
  const named = symbol === '' ? contractOfColumns(cells) : parseOptionSymbol(symbol);
  if (named === undefined) return symbol === '' ? 'bad_contract' : 'bad_symbol';
  const agrees =
    (ticker === '' || isAbout(named, canonicalTicker(ticker))) &&
    (expiry === '' || expiry === named.expiry) &&
    (type === '' || callPutOf(type) === named.callPut) &&
    (strike === '' || Math.abs(cellNumber(strike) - named.strike) < STRIKE_STEP / 2);
  if (!agrees) return 'symbol_contradicts_columns';
  return { ...named, symbol: formatOptionSymbol(named, 'compact'), expiryMs: Date.parse(`${named.expiry}T00:00:00Z`) };
}

/** Of a symbol's strike. */
const STRIKE_STEP = 0.001;
const STRIKE_MAX = 1e5;

function contractOfColumns([, cell = '', expiry = '', type = '', strikeCell]: ContractCells): Contract | undefined {
  const [ticker, callPut, strike] = [canonicalTicker(cell), callPutOf(type), cellNumber(strikeCell)];
  const isStrike = strike >= STRIKE_STEP && strike < STRIKE_MAX;
  if (!/^[A-Z][A-Z0-9.]{0,9}$/.test(ticker) || !isDate(expiry) || callPut === undefined || !isStrike) return undefined;
  const root = rootOn(ticker, expiry);
  return { root, underlying: rootOf(root).underlying, expiry, callPut, strike };
}

/** Whether a tape's ticker is that of the symbol: its underlying, or its root (`SPXW`), dotted or not. */
function isAbout({ root, underlying }: Contract, ticker: string): boolean {
  return ticker === underlying || rootOf(ticker).underlying === underlying || rootOfTicker(ticker) === root;
}

function callPutOf(type: string): 1 | -1 | undefined {
  const side = type.toUpperCase();
  return side === 'C' || side === 'CALL' ? 1 : side === 'P' || side === 'PUT' ? -1 : undefined;
}

/** As tapes write it (`ask`, `above_ask`, `buy`); anything else, as `no_side`, is none. Without the column it stands among the tags, as `ask_side`. */
function sideOf(cell: string, tags: string): Print['side'] {
  const word = cell === '' ? (/\b(ask|bid|mid)_side\b/i.exec(tags)?.[1] ?? '') : cell;
  const plain = word.toLowerCase().replace(/[ _-]side$/, '');
  return SIDES.get(plain.replace(/[ -]/g, '_')) ?? null;
}

const SIDES: ReadonlyMap<string, Print['side']> = new Map([
  ...['ask', 'at_ask', 'above_ask', 'buy', 'buyer', 'bought'].map((word) => [word, 'ask'] as const),
  ...['bid', 'at_bid', 'below_bid', 'sell', 'seller', 'sold'].map((word) => [word, 'bid'] as const),
  ...['mid', 'middle', 'between'].map((word) => [word, 'mid'] as const),
]);

const TRUE = /^(?:t|true|1|y|yes)$/i;

/** Exchanges number their trades anew each day, and not all of them across contracts. */
function withinDay(ms: number, { symbol }: PrintedContract, number: string): string {
  return number && `${Math.floor(ms / DAY_MS)}-${symbol}-${number}`;
}

/** What was asked for before is not worked out again; `key` is cells, a line each. Bounded: cells come from outside. */
function remembering<T>(work: (cells: readonly string[]) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) {
      // Of text of its own: what is kept of a cell keeps the whole piece that it was cut from.
      value = work(Buffer.from(key).toString().split('\n'));
      if (known.size >= REMEMBERED_MAX) known.clear();
      known.set(key, value);
    }
    return value;
  };
}

const REMEMBERED_MAX = 50_000;
