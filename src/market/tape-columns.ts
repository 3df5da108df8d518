import { recordOf } from '../core/record-of.ts';
import { newYorkDate } from './calendar.ts';
import type { Print } from './prints.ts';

/** The contracts of a tape, all with the same underlying. The number of a contract is its index in `seriesIndex` and `strike`. */
export interface TapeContracts {
  readonly series: readonly TapeSeries[];
  /** The index of each contract's series in the array `series`. */
  readonly seriesIndex: Uint32Array;
  /** The strike of each contract, dollars. */
  readonly strike: Float64Array;
}

/** One side of a series: its calls or its puts. */
export type TapeSeries = Pick<Print, 'root' | 'expiry' | 'callPut'>;

/** Prints of one underlying as columns, in order of time. Prints of the same moment are in order of arrival. NaN means "not given". */
export interface TapeColumns {
  readonly count: number;
  readonly contracts: TapeContracts;
  /** For each print, the number of its contract. */
  readonly contract: Uint32Array;
  /** The moments of the prints, ms since the epoch. */
  readonly at: Float64Array;
  readonly price: Float64Array;
  readonly size: Float64Array;
  readonly multiplier: Float64Array;
  readonly bid: Float64Array;
  readonly ask: Float64Array;
  readonly delta: Float64Array;
  /** The side of the quote, and flags on how the print was executed: see `FLAG`. */
  readonly flags: Uint8Array;
}

/** The columns of numbers, one number for each print. */
export const NUMBERS = ['at', 'price', 'size', 'multiplier', 'bid', 'ask', 'delta'] as const;

/** The bits of a print's flags. The lowest two bits contain the side. */
export const FLAG = { bid: 1, ask: 2, mid: 3, side: 3, multiLeg: 4, sweep: 8, block: 16 } as const;

const SIDES = [null, 'bid', 'ask', 'mid'] as const;

const HOUR_MS = 3_600_000;
let [lastHour, lastDay] = [Number.NaN, ''];

/** Returns the New York date of a moment. Caches the last hour, because New York time differs from UTC by whole hours. */
export function dayOf(atMs: number): string {
  const hour = Math.floor(atMs / HOUR_MS);
  if (hour !== lastHour) [lastHour, lastDay] = [hour, newYorkDate(atMs)];
  return lastDay;
}

/** Assigns a number to each contract, in the order in which contracts are first looked up. */
export class ContractNumbers {
  readonly #bySeries = new Map<string, { readonly index: number; readonly byStrike: Map<number, number> }>();
  readonly #series: TapeSeries[] = [];
  readonly #seriesIndex: number[] = [];
  readonly #strike: number[] = [];

  get count(): number {
    return this.#strike.length;
  }

  /** Returns the number of a contract. */
  of({ root, expiry, callPut, strike }: TapeSeries & { readonly strike: number }): number {
    return this.#number(this.#seriesOf({ root, expiry, callPut }), strike);
  }

  /** Assigns a number to each of the given contracts, and returns the numbers in the order of the contracts. */
  ofAll({ series, seriesIndex, strike }: TapeContracts): Uint32Array {
    const known = series.map((each) => this.#seriesOf(each));
    const numbers = new Uint32Array(strike.length);
    for (let contract = 0; contract < numbers.length; contract++) {
      numbers[contract] = this.#number(known[seriesIndex[contract]!]!, strike[contract]!);
    }
    return numbers;
  }

  contracts(): TapeContracts {
    return {
      series: [...this.#series],
      seriesIndex: Uint32Array.from(this.#seriesIndex),
      strike: Float64Array.from(this.#strike),
    };
  }

  #seriesOf({ root, expiry, callPut }: TapeSeries) {
    const key = `${root} ${expiry} ${callPut}`;
    return this.#bySeries.getOrInsertComputed(key, () => ({
      index: this.#series.push({ root, expiry, callPut }) - 1,
      byStrike: new Map(),
    }));
  }

  #number({ index, byStrike }: { readonly index: number; readonly byStrike: Map<number, number> }, strike: number) {
    return byStrike.getOrInsertComputed(strike, () => {
      this.#seriesIndex.push(index);
      return this.#strike.push(strike) - 1;
    });
  }
}

/** Returns a row of columns as a print. `fields` has the fields of the print that have no column. */
export function printOfRow(
  columns: TapeColumns,
  row: number,
  fields: Pick<Print, 'id' | 'underlying' | 'canceled' | 'simulated'>,
): Print {
  const { contracts } = columns;
  const contract = columns.contract[row]!;
  const { root, expiry, callPut } = contracts.series[contracts.seriesIndex[contract]!]!;
  const { underlying } = fields;
  return printAt(columns, row, { underlying, root, expiry, callPut, strike: contracts.strike[contract]! }, fields);
}

/** Returns a row of columns as a print of a contract. Spreading objects would take twice as long. */
export function printAt(
  { price, size, multiplier, at, bid, ask, delta, flags }: Pick<TapeColumns, (typeof NUMBERS)[number] | 'flags'>,
  row: number,
  { underlying, root, expiry, callPut, strike }: Pick<Print, 'underlying' | 'root' | 'expiry' | 'callPut' | 'strike'>,
  { id, canceled, simulated }: Pick<Print, 'id' | 'canceled' | 'simulated'>,
): Print {
  const flag = flags[row]!;
  return {
    id,
    underlying,
    root,
    expiry,
    callPut,
    strike,
    price: price[row]!,
    size: size[row]!,
    multiplier: multiplier[row]!,
    at: at[row]!,
    side: SIDES[flag & FLAG.side]!,
    bid: nullIfNaN(bid[row]!),
    ask: nullIfNaN(ask[row]!),
    delta: nullIfNaN(delta[row]!),
    multiLeg: (flag & FLAG.multiLeg) !== 0,
    sweep: (flag & FLAG.sweep) !== 0,
    block: (flag & FLAG.block) !== 0,
    canceled,
    simulated,
  };
}

function nullIfNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** Returns the given rows of `columns`, in the given order. */
export function pickRows(columns: TapeColumns, rows: Uint32Array): TapeColumns {
  return {
    count: rows.length,
    contracts: columns.contracts,
    contract: picked(columns.contract, rows, new Uint32Array(rows.length)),
    ...recordOf(NUMBERS, (name) => picked(columns[name], rows, new Float64Array(rows.length))),
    flags: picked(columns.flags, rows, new Uint8Array(rows.length)),
  };
}

/** Returns the elements of `from` at the given indices, in `into`. A method with a callback takes ten times as long. */
export function picked<Column extends Float64Array | Uint32Array | Uint8Array>(
  from: Column,
  rows: Uint32Array,
  into: Column,
): Column {
  for (let i = 0; i < rows.length; i++) into[i] = from[rows[i]!]!;
  return into;
}
