import { CHAIN_COLUMNS, emptyChainColumns, type Series } from './chain.ts';

export type SeriesNames = Pick<Series, 'root' | 'expiry'>;
type ContractColumn = (typeof CHAIN_COLUMNS)[number];

/**
 * A contract from a feed, before its values are checked. `NaN` means "not given", of the multiplier 100. A contract is rejected if its
 * `callPut` is neither 1 nor -1.
 */
export type ContractRow = SeriesNames & Readonly<Record<ContractColumn, number>>;

/** The fields that do not identify the contract. */
export type QuoteField = Exclude<ContractColumn, 'callPut' | 'strike'>;

const QUOTE_FIELDS = CHAIN_COLUMNS.filter((name) => name !== 'callPut' && name !== 'strike');

/** Contracts from a feed as columns that grow, with the values of a `ContractRow`. They are not valid after their disposal. */
export class ContractBatch implements Disposable {
  /** The index of each row, in the order of the source. */
  readonly rows: number[] = [];
  readonly series: SeriesNames[] = [];
  columns = spare ?? emptyChainColumns(ROWS_KEPT);

  constructor() {
    spare = undefined;
  }

  /** Converts contracts. Reads one contract more than `max` at most. */
  static of(contracts: Iterable<ContractRow>, max = Number.POSITIVE_INFINITY): ContractBatch {
    const batch = new ContractBatch();
    for (const contract of contracts)
      if (batch.add(contract, contract.callPut, contract.strike, (field) => contract[field]) === max) break;
    return batch;
  }

  /** Adds a contract. `value` returns the value of a field. Without it, the caller writes the other columns. Returns the index of the row. */
  add(series: SeriesNames, callPut: number, strike: number, value?: (field: QuoteField) => number): number {
    const row = this.series.push(series) - 1;
    this.rows.push(row);
    if (row === this.columns.strike.length) {
      const columns = emptyChainColumns(2 * row);
      for (const name of CHAIN_COLUMNS) columns[name].set(this.columns[name]);
      this.columns = columns;
    }
    this.columns.callPut[row] = callPut;
    this.columns.strike[row] = strike;
    if (value !== undefined) for (const field of QUOTE_FIELDS) this.columns[field][row] = value(field);
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
