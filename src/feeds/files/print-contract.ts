import { memoize } from '../../core/cache.ts';
import { isEqual, memoizeBytes } from '../../core/memoize-bytes.ts';
import {
  canonicalTicker,
  formatOptionSymbol,
  type OptionSymbol,
  parseCallPut,
  parseOptionSymbol,
  rootOf,
  rootOfTicker,
} from '../../market/option-symbol.ts';
import type { PrintBatch } from '../../market/print-batch.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { cellNumber } from '../numbers.ts';
import { seriesOf } from './roots.ts';

type Contract = Pick<OptionSymbol, 'root' | 'underlying' | 'expiry' | 'callPut' | 'strike'>;

/** The contract of a print. */
export interface PrintedContract extends Contract {
  /** The symbol in its canonical form, which is part of the print's identity. */
  readonly symbol: string;
  /** The bytes of the symbol. */
  readonly symbolBytes: Uint8Array;
  /** Start of the expiry date in UTC, ms since the epoch. */
  readonly expiryMs: number;
  /** The batch to which a print of the contract was last added, and the contract's number in this batch. */
  batch: PrintBatch | undefined;
  number: number;
}

/** The reason why the contract of a row cannot be read. */
export type NoContract = 'bad_symbol' | 'bad_contract' | 'symbol_contradicts_columns';

/** The columns of the cells that name a contract. */
export type ContractColumns = readonly [symbol: number, ticker: number, expiry: number, type: number, strike: number];

/** Returns a function that reads the contract of a row. It compares a row with the last row of its symbol, and does not parse equal cells. */
export function contractReader(columns: ContractColumns): (row: RowScanner) => PrintedContract | NoContract {
  const [symbol, ...others] = columns;
  const lastOf = memoizeBytes(MEMOIZED_MAX, (): LastRow => ({ cells: [], contract: 'bad_contract' }));
  const byCells = memoize(MEMOIZED_MAX, (key: string) => contractOf(key.split('\n')));
  return (row) => {
    const from = row.start(symbol);
    const to = row.end(symbol);
    const last = from < to ? lastOf(row.bytes, from, to) : undefined;
    if (last !== undefined && last.cells.length > 0 && areEqual(row, others, last.cells)) return last.contract;
    const key = columns.map((column) => row.text(column)).join('\n');
    const contract = key.length > KEY_CHARS_MAX ? contractOf(key.split('\n')) : byCells(key);
    if (last !== undefined) {
      last.cells = others.map((column) => new Uint8Array(row.bytes.subarray(row.start(column), row.end(column))));
      last.contract = contract;
    }
    return contract;
  };
}

/** Maximum number of cached contracts. On one day, fewer contracts than this maximum are traded often. */
const MEMOIZED_MAX = 65_536;
/** Maximum length of a cached key, characters. Longer keys would exhaust the memory. */
const KEY_CHARS_MAX = 200;

/** The contract of the last row with a symbol, and the other cells of the contract. */
interface LastRow {
  cells: readonly Uint8Array[];
  contract: PrintedContract | NoContract;
}

function areEqual(row: RowScanner, columns: readonly number[], cells: readonly Uint8Array[]): boolean {
  for (let i = 0; i < columns.length; i++) {
    if (!isEqual(cells[i]!, row.bytes, row.start(columns[i]!), row.end(columns[i]!))) return false;
  }
  return true;
}

/** Reads a row's contract from its symbol, with which its other cells must agree, or without a symbol from the other cells. */
function contractOf(cells: readonly string[]): PrintedContract | NoContract {
  const [symbol = '', ticker = '', expiry = '', type = '', strike = ''] = cells;
  const named = symbol === '' ? contractOfColumns(cells) : parseOptionSymbol(symbol);
  if (named === undefined) return symbol === '' ? 'bad_contract' : 'bad_symbol';
  const isConsistent =
    (ticker === '' || fitsTicker(named, canonicalTicker(ticker))) &&
    (expiry === '' || expiry === named.expiry) &&
    (type === '' || parseCallPut(type) === named.callPut) &&
    (strike === '' || Math.abs(cellNumber(strike) - named.strike) < STRIKE_STEP / 2);
  if (!isConsistent) return 'symbol_contradicts_columns';
  const printed = formatOptionSymbol(named, 'compact');
  const expiryMs = Date.parse(`${named.expiry}T00:00:00Z`);
  return { ...named, symbol: printed, symbolBytes: Buffer.from(printed), expiryMs, batch: undefined, number: 0 };
}

/** The smallest difference between two strikes. Strikes in a symbol have three decimals. */
const STRIKE_STEP = 0.001;
const STRIKE_MAX = 1e5;

function contractOfColumns([, ticker = '', expiry = '', type = '', cell]: readonly string[]): Contract | undefined {
  const [series, callPut, strike] = [seriesOf(ticker, expiry), parseCallPut(type), cellNumber(cell)];
  const isStrike = strike >= STRIKE_STEP && strike < STRIKE_MAX;
  return series === undefined || callPut === undefined || !isStrike ? undefined : { ...series, callPut, strike };
}

/** Returns whether a tape's ticker agrees with a contract. The ticker may be the underlying or the root (`SPXW`), with or without a dot. */
function fitsTicker({ root, underlying }: Contract, ticker: string): boolean {
  return ticker === underlying || rootOf(ticker).underlying === underlying || rootOfTicker(ticker) === root;
}
