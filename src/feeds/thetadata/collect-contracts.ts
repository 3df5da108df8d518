import { ClientError } from '../../core/errors.ts';
import { CONTRACTS_MAX, type ContractRow } from '../../market/build-chain.ts';
import { isDate, settlementInstant } from '../../market/calendar.ts';
import { parseCallPut, rootOfTicker } from '../../market/option-symbol.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import type { CollectedContracts } from '../http/poll-tickers.ts';
import { numberOf } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import type { Terminal } from './terminal.ts';

/** A value of a contract, and the column that has the value. */
type Values = Partial<Record<'bid' | 'ask' | 'last' | 'volume' | 'openInterest', string>>;

interface Source {
  readonly path: string;
  /** Further parameters of the query, for example `&date=20261120`. */
  readonly period?: string;
  readonly values: Values;
}

/** The tables of a chain, which are joined by contract. */
export interface ChainSources {
  /** The table with all contracts. `time` is the column with the time of the row. */
  readonly quotes: Source & { readonly time: string };
  readonly openInterest: Source;
  /** A table whose values are not required. */
  readonly trades?: Source;
  /** Returns whether a row of the quotes with this time counts. */
  readonly acceptsTime: (time: string) => boolean;
}

type Row = { -readonly [Field in keyof ContractRow]: ContractRow[Field] } & { isQuoted: boolean };

/**
 * Requests the tables of each root of a ticker, and joins them. A contract in only one of the first two tables counts too. Returns
 * `undefined` if the terminal has no quotes. Throws a `ClientError` if a request for quotes or open interest fails, or if there is no open
 * interest for a root with quotes.
 */
export async function collectContracts(
  terminal: Terminal,
  ticker: string,
  { quotes, openInterest, trades, acceptsTime }: ChainSources,
  signal: AbortSignal | undefined,
): Promise<JoinedContracts | undefined> {
  const joined = new JoinedContracts();
  let hasQuotes = false;
  for (const root of rootsOf(ticker)) {
    const read = ({ path, period = '', values }: Source, what: keyof typeof BAD_ROWS, time?: string) => {
      const columns = [...CONTRACT_COLUMNS, ...Object.values(values), ...(time === undefined ? [] : [time])];
      return terminal.readTable(
        { address: `${path}?symbol=${root}&expiration=*${period}`, columns },
        (row, at) => {
          if (time === undefined || acceptsTime(row.text(at[time]!))) joined.add(root, row, at, values, what);
          else countRejected(joined.refused, 'bad_time');
        },
        signal,
      );
    };
    if (!(await read(quotes, 'quotes', quotes.time))) continue;
    hasQuotes = true;
    if (!(await read(openInterest, 'openInterest')))
      throw unreadable(`the terminal has quotes of ${root}, but no open interest`);
    if (trades)
      await read(trades, 'trades').catch((error) => {
        if (!(error instanceof ClientError)) throw error;
      });
  }
  return hasQuotes ? joined : undefined;
}

const CONTRACT_COLUMNS = ['expiration', 'strike', 'right'] as const;
/** The reason under which an unreadable row of a table is counted. */
const BAD_ROWS = { quotes: 'bad_symbol', openInterest: 'bad_open_interest', trades: 'bad_trade' } as const;

/** Returns the roots of a ticker's options. The terminal has the weekly options of an index under a root of their own. */
function rootsOf(ticker: string): string[] {
  const weekly = WEEKLY_ROOTS[ticker];
  return [rootOfTicker(ticker), ...(weekly === undefined ? [] : [weekly])];
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW', VIX: 'VIXW' };

/** The least share of the contracts with open interest that must have a quote. Tables of different strikes or days match less. */
const QUOTED_SHARE_MIN = 0.9;

/** The contracts of one ticker, joined from several tables. */
export class JoinedContracts {
  readonly refused: Record<string, number> = {};
  readonly #rows = new Map<string, Row>();
  #unreadable = 0;

  /** Adds the values of a row to its contract. Counts unusable rows in `refused`. Throws a `ClientError` beyond CONTRACTS_MAX. */
  add(
    root: string,
    row: RowScanner,
    at: Readonly<Record<string, number>>,
    values: Values,
    what: keyof typeof BAD_ROWS,
  ): void {
    const expiry = row.text(at.expiration!);
    const callPut = parseCallPut(row.text(at.right!));
    const strike = numberOf(row, at.strike!);
    if (callPut === undefined || !isDate(expiry) || !(strike > 0)) {
      if (what === 'quotes') this.#unreadable++;
      countRejected(this.refused, BAD_ROWS[what]);
      return;
    }
    const key = `${root} ${expiry} ${callPut} ${strike}`;
    let contract = this.#rows.get(key);
    if (contract?.isQuoted && what === 'quotes') {
      countRejected(this.refused, 'duplicate');
      return;
    }
    if (contract === undefined) {
      if (what === 'trades') return;
      if (this.#rows.size === CONTRACTS_MAX) throw unreadable(`the tables have more than ${CONTRACTS_MAX} contracts`);
      contract = { root, expiry, callPut, strike, ...NO_VALUES, isQuoted: what === 'quotes' };
      this.#rows.set(key, contract);
    }
    for (const [field, column] of Object.entries(values)) contract[field as keyof Values] = numberOf(row, at[column]!);
    // A contract without a trade has a price of 0.
    if (contract.last === 0) contract.last = Number.NaN;
  }

  /**
   * Returns the contracts that have not settled at `asOf`. Throws a `ClientError` if fewer than QUOTED_SHARE_MIN of the contracts with open
   * interest have a quote.
   */
  unsettledAt(asOf: number, spot: number | undefined): CollectedContracts {
    const rows = [...this.#rows.values()].filter(({ expiry }) => settlementInstant(expiry, 'PM') > asOf);
    const open = rows.filter(({ openInterest }) => !Number.isNaN(openInterest));
    const quoted = open.filter(({ isQuoted }) => isQuoted).length;
    if (quoted < QUOTED_SHARE_MIN * open.length)
      throw unreadable(`only ${quoted} of ${open.length} contracts with open interest have a quote`);
    return { rows, refused: this.refused, offered: rows.length + this.#unreadable, spot };
  }
}

const NONE = Number.NaN;
/** ThetaData states no number of shares, and no volatility in these tables. Zomma computes the volatility from the quote. */
const NO_VALUES = {
  ...{ bid: NONE, ask: NONE, last: NONE, volume: NONE, openInterest: NONE },
  ...{ iv: NONE, delta: NONE, gamma: NONE, multiplier: NONE },
};
