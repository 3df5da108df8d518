import { isDate } from '../../market/calendar.ts';
import {
  canonicalTicker,
  formatOptionSymbol,
  isTicker,
  type OptionSymbol,
  parseCallPut,
  parseOptionSymbol,
  rootOf,
  rootOfTicker,
} from '../../market/option-symbol.ts';
import { cellNumber } from '../numbers.ts';
import { KEY_CHARS_MAX, MEMOIZED_MAX, memoizeCells } from './memoize-cells.ts';
import { rootOn } from './roots.ts';

type Contract = Pick<OptionSymbol, 'root' | 'underlying' | 'expiry' | 'callPut' | 'strike'>;

/** The contract of a print. */
export interface PrintedContract extends Contract {
  /** The symbol in its canonical form, which is part of the print's identity. */
  readonly symbol: string;
  /** Start of the expiry date in UTC, ms since the epoch. */
  readonly expiryMs: number;
}

/** The reason why the contract of a row cannot be read. */
export type NoContract = 'bad_symbol' | 'bad_contract' | 'symbol_contradicts_columns';

type Cells = readonly [symbol: string, ticker: string, expiry: string, type: string, strike: string];

/**
 * Returns a function that reads the contract of a row, and caches contracts by symbol. Rows with the same symbol usually have equal
 * contract cells. So the function compares each row with the last row of its symbol, and does not parse equal cells again.
 */
export function contractReader(): (...cells: Cells) => PrintedContract | NoContract {
  const bySymbol = new Map<string, { readonly cells: Cells; readonly contract: PrintedContract | NoContract }>();
  const byCells = memoizeCells(contractOf);
  return (symbol, ticker, expiry, type, strike) => {
    const known = bySymbol.get(symbol);
    if (known !== undefined) {
      const [, wasTicker, wasExpiry, wasType, wasStrike] = known.cells;
      if (ticker === wasTicker && expiry === wasExpiry && type === wasType && strike === wasStrike)
        return known.contract;
    }
    const key = [symbol, ticker, expiry, type, strike].join('\n');
    const contract = byCells(key);
    if (key.length > KEY_CHARS_MAX) return contract;
    // The code copies the text, because a cached substring would keep its whole piece of the file in memory.
    const cells = Buffer.from(key).toString().split('\n') as unknown as Cells;
    if (bySymbol.size >= MEMOIZED_MAX) bySymbol.clear();
    if (symbol !== '') bySymbol.set(cells[0], { cells, contract });
    return contract;
  };
}

/**
 * Reads a row's contract from its symbol or, without a symbol, from its other cells. The other cells of a row must agree with its symbol.
 */
function contractOf(cells: ContractCells): PrintedContract | NoContract {
  const [symbol = '', ticker = '', expiry = '', type = '', strike = ''] = cells;
  const named = symbol === '' ? contractOfColumns(cells) : parseOptionSymbol(symbol);
  if (named === undefined) return symbol === '' ? 'bad_contract' : 'bad_symbol';
  const isConsistent =
    (ticker === '' || fitsTicker(named, canonicalTicker(ticker))) &&
    (expiry === '' || expiry === named.expiry) &&
    (type === '' || parseCallPut(type) === named.callPut) &&
    (strike === '' || Math.abs(cellNumber(strike) - named.strike) < STRIKE_STEP / 2);
  if (!isConsistent) return 'symbol_contradicts_columns';
  return { ...named, symbol: formatOptionSymbol(named, 'compact'), expiryMs: Date.parse(`${named.expiry}T00:00:00Z`) };
}

type ContractCells = readonly string[];

/** The smallest difference between two strikes. Strikes in a symbol have three decimals. */
const STRIKE_STEP = 0.001;
const STRIKE_MAX = 1e5;

function contractOfColumns([, cell = '', expiry = '', type = '', strikeCell]: ContractCells): Contract | undefined {
  const [ticker, callPut, strike] = [canonicalTicker(cell), parseCallPut(type), cellNumber(strikeCell)];
  const isStrike = strike >= STRIKE_STEP && strike < STRIKE_MAX;
  if (!isTicker(ticker) || !isDate(expiry) || callPut === undefined || !isStrike) return undefined;
  const root = rootOn(ticker, expiry);
  return { root, underlying: rootOf(root).underlying, expiry, callPut, strike };
}

/** Returns whether a tape's ticker agrees with a contract. The ticker may be the underlying or the root (`SPXW`), with or without a dot. */
function fitsTicker({ root, underlying }: Contract, ticker: string): boolean {
  return ticker === underlying || rootOf(ticker).underlying === underlying || rootOfTicker(ticker) === root;
}
