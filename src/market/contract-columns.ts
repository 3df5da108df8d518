import { CHAIN_COLUMNS, emptyChainColumns } from './chain.ts';

/** The names of a series. */
export interface SeriesNames {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
}

/** A contract from a feed, before its values are checked. `NaN` means "not given". */
export interface ContractRow extends SeriesNames {
  /** +1 for a call, -1 for a put. A row with any other value is rejected. */
  readonly callPut: number;
  readonly strike: number;
  readonly bid: number;
  readonly ask: number;
  readonly last: number;
  readonly volume: number;
  readonly openInterest: number;
  readonly iv: number;
  readonly delta: number;
  readonly gamma: number;
  /** Shares per contract. `NaN` means the usual number, 100. */
  readonly multiplier: number;
}

/** The fields of a row that do not identify the contract. */
export type QuoteField = Exclude<keyof ContractRow, 'root' | 'expiry' | 'callPut' | 'strike'>;

/** Builds the row of a contract. `value` returns the value of a field, or NaN if the value is not given. */
export function contractRow(
  { root, expiry, callPut, strike }: Omit<ContractRow, QuoteField>,
  value: (field: QuoteField) => number,
): ContractRow {
  return {
    root,
    expiry,
    callPut,
    strike,
    bid: value('bid'),
    ask: value('ask'),
    last: value('last'),
    volume: value('volume'),
    openInterest: value('openInterest'),
    iv: value('iv'),
    delta: value('delta'),
    gamma: value('gamma'),
    multiplier: value('multiplier'),
  };
}

type ContractColumn = (typeof CHAIN_COLUMNS)[number];

/** Contracts from a feed as columns, before their values are checked: rows of columns that may have other rows too. NaN is "not given". */
export interface Contracts {
  /** The indices of the rows, in the order of the source. */
  readonly rows: readonly number[];
  /** The series of each row of the columns. Most rows have the same object as the row before. */
  readonly series: readonly SeriesNames[];
  readonly columns: Readonly<Record<ContractColumn, Float64Array>>;
}

/** Converts contracts to columns. Reads one contract more than `max` at most. */
export function contractsOf(contracts: Iterable<ContractRow>, max = Number.POSITIVE_INFINITY): Contracts {
  const series: ContractRow[] = [];
  for (const contract of contracts) if (series.push(contract) > max) break;
  const columns = emptyChainColumns(series.length);
  // One loop for each column is faster than one loop for all columns.
  for (const name of CHAIN_COLUMNS) for (let i = 0; i < series.length; i++) columns[name][i] = series[i]![name];
  return { rows: [...series.keys()], series, columns };
}

/** Columns that grow by one contract after another. They must be disposed of, and are not valid afterwards. */
export class GrowingContracts implements Disposable {
  readonly series: SeriesNames[] = [];
  columns = spare ?? emptyChainColumns(ROWS_KEPT);

  constructor() {
    spare = undefined;
  }

  /** Adds a contract, whose other columns have any values. Returns the index of the row. */
  add(series: SeriesNames, callPut: number, strike: number): number {
    const row = this.series.push(series) - 1;
    if (row === this.columns.strike.length) {
      const columns = emptyChainColumns(2 * row);
      for (const name of CHAIN_COLUMNS) columns[name].set(this.columns[name]);
      this.columns = columns;
    }
    this.columns.callPut[row] = callPut;
    this.columns.strike[row] = strike;
    return row;
  }

  [Symbol.dispose](): void {
    if (this.columns.strike.length === ROWS_KEPT) spare = this.columns;
  }
}

/** Number of rows of columns that are kept. Most chains have fewer rows. */
const ROWS_KEPT = 8_192;
/** Columns that are not in use. New memory takes as long as a tenth of the reading of a chain. */
let spare: ReturnType<typeof emptyChainColumns> | undefined;
