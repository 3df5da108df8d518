import { ClientError } from '../../core/errors.ts';
import { CONTRACTS_MAX, STRIKE_MAX } from '../../market/build-chain.ts';
import { isDate, settlementInstant } from '../../market/calendar.ts';
import type { ContractRow } from '../../market/contract-batch.ts';
import { parseCallPut, rootOfTicker } from '../../market/option-symbol.ts';
import { type ProviderSnapshot, snapshotFrom } from '../http/poll-tickers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import type { ReadTable } from './terminal.ts';

/** A table of contracts: its path, further parameters of its query, and the columns that have values. */
interface Table {
  readonly path: string;
  readonly query?: string;
  readonly values: Partial<Record<'bid' | 'ask' | 'last' | 'volume' | 'openInterest', string>>;
}

/** The tables of a chain. The quotes have all contracts. The values of `trades` are not required. */
export interface ChainTables {
  readonly quotes: Table & { readonly time: string };
  readonly openInterest: Table;
  readonly trades?: Table;
}

/** The moment and the spot of a chain, by the times of its quotes in New York. Without a spot, the quotes imply it. */
export type HeadOf = (
  times: readonly string[],
) => Promise<{ readonly asOf: number; readonly spot?: number | undefined }>;

/**
 * Joins the tables of each root of a ticker by contract. A contract in only one of the first two tables counts too, and contracts that have
 * settled are left out. Returns `undefined` if the terminal has no quotes. Throws a `ClientError` if a request for quotes or open interest
 * fails, if a root with quotes has no open interest, or if too few contracts with open interest have a quote.
 */
export async function joinTables(
  readTable: ReadTable,
  ticker: string,
  { quotes, openInterest, trades }: ChainTables,
  headOf: HeadOf,
  signal?: AbortSignal,
): Promise<ProviderSnapshot | undefined> {
  const contracts = new Map<string, Row>();
  const times = new Set<string>();
  const refused: Record<string, number> = {};
  for (const root of rootsOf(ticker)) {
    const read = (table: Table, badRow: string) =>
      readTable(
        `${table.path}?symbol=${root}&expiration=*${table.query ?? ''}`,
        (row) => {
          if (table === quotes) times.add(row.text(quotes.time));
          const [expiry, strike] = [row.text('expiration'), row.number('strike')];
          const callPut = parseCallPut(row.text('right'));
          const key = `${root} ${expiry} ${callPut} ${strike}`;
          let contract = contracts.get(key);
          if (callPut === undefined || !isDate(expiry) || !(strike > 0 && strike <= STRIKE_MAX))
            countRejected(refused, badRow);
          else if (table === quotes && contract) countRejected(refused, 'duplicate');
          else if (contract || table !== trades) {
            contract ??= { root, expiry, callPut, strike, ...NO_VALUES, isQuoted: table === quotes };
            contracts.set(key, contract);
            if (contracts.size > CONTRACTS_MAX) throw unreadable(`there are more than ${CONTRACTS_MAX} contracts`);
            for (const [field, column] of Object.entries(table.values))
              contract[field as keyof Table['values']] = row.number(column);
            // A contract without a trade has a price of 0.
            if (contract.last === 0) contract.last = Number.NaN;
          }
        },
        signal,
      );
    if (!(await read(quotes, 'bad_symbol'))) continue;
    if (!(await read(openInterest, 'bad_open_interest')))
      throw unreadable(`the terminal has quotes of ${root}, but no open interest`);
    if (trades) await read(trades, 'bad_trade').catch(ignoreClientError);
  }
  if (times.size === 0) return undefined;
  const { asOf, spot } = await headOf([...times]);
  const rows = [...contracts.values()].filter(({ expiry }) => settlementInstant(expiry, 'PM') > asOf);
  const open = rows.filter((row) => !Number.isNaN(row.openInterest));
  const quoted = open.filter(({ isQuoted }) => isQuoted).length;
  if (quoted < QUOTED_SHARE_MIN * open.length)
    throw unreadable(`only ${quoted} of ${open.length} contracts with open interest have a quote`);
  const offered = rows.length + (refused.bad_symbol ?? 0);
  return snapshotFrom('thetadata', ticker, asOf, { rows, refused, offered, spot });
}

/** Throws an error again, unless it is a `ClientError`. */
export function ignoreClientError(error: unknown): void {
  if (!(error instanceof ClientError)) throw error;
}

/** The least share of the contracts with open interest that must have a quote. Tables of different strikes or days match less. */
const QUOTED_SHARE_MIN = 0.9;

/** Returns the roots of a ticker's options. The terminal has the weekly options of an index under a root of their own. */
function rootsOf(ticker: string): string[] {
  const weekly = WEEKLY_ROOTS[ticker];
  return [rootOfTicker(ticker), ...(weekly === undefined ? [] : [weekly])];
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW', VIX: 'VIXW' };

type Row = { -readonly [Field in keyof ContractRow]: ContractRow[Field] } & { isQuoted: boolean };

const NONE = Number.NaN;
/** The tables have neither a number of shares nor a volatility. Zomma computes the volatility from the quote. */
const NO_VALUES = {
  ...{ bid: NONE, ask: NONE, last: NONE, volume: NONE, openInterest: NONE },
  ...{ iv: NONE, delta: NONE, gamma: NONE, multiplier: NONE },
};
