import { change } from './prints.ts';
import { ContractNumbers, FLAG, type TapeColumns, type TapeContracts } from './tape-columns.ts';

/**
 * The sums of a run of prints, by contract. A run consists of consecutive prints. The sums of two adjacent runs can be combined. All sums
 * are whole numbers, so that the order of addition does not change a sum. The unit of premium is `1 / PREMIUM_UNITS` dollars. The unit of
 * delta times shares is `1 / SHARE_PARTS` shares.
 *
 * The aggressor of a print may depend on earlier prints, because the tick rule uses the direction of the contract's last price change. A
 * print is pending if neither the feed nor the quote gives its side, and the price of its contract has not changed yet in the run. All
 * pending prints of a contract have the same aggressor. The aggressor of pending prints follows from the price change between the last
 * print before the run and the first print of the run. If the run begins without a price change, the aggressor follows from the last price
 * change before the run.
 */
export interface TapeSums {
  readonly contracts: TapeContracts;
  /** The figures of each contract, at the positions that `BY_CONTRACT` defines. */
  readonly byContract: Float64Array;
  /** The figures of each cell that has a print, at the positions that `CELL` defines. */
  readonly cells: TapeCells;
}

/** Figures by cell. A cell is a pair of a contract and an execution type, such as `sweep`. */
export interface TapeCells {
  readonly count: number;
  readonly contract: Uint32Array;
  /** The index of the execution type in the array `MANNERS`. */
  readonly manner: Uint8Array;
  readonly values: Float64Array;
  /** The rounding errors of `values`. A value plus its rounding error is the exact sum. Undefined if no value was rounded. */
  readonly lost: Float64Array | undefined;
}

/** The execution types of a print. If a print has several execution types, only the first type in this list counts. */
export const MANNERS = ['multi_leg', 'sweep', 'block', 'single'] as const;

/**
 * The positions of a contract's figures in its array elements:
 * - the price of the first and of the last print, and the middle of their quotes, which is NaN if a print has no quote;
 * - `direction` of the last price change: 1, -1, or 0 if the price has not changed;
 * - `net`: contracts that customers bought minus contracts that customers sold;
 * - `feed`, `quote` and `tick`: the numbers of prints whose aggressor follows from the feed, from the quote and from the tick rule.
 */
export const BY_CONTRACT = {
  firstPrice: 0,
  firstMiddle: 1,
  lastPrice: 2,
  lastMiddle: 3,
  direction: 4,
  net: 5,
  feed: 6,
  quote: 7,
  tick: 8,
  width: 9,
} as const;

/**
 * The positions of a cell's figures in its array elements:
 * - `prints` and `contracts`: the number of prints, and the number of contracts in these prints;
 * - `bought` and `sold`: the premium of prints in which customers bought or sold;
 * - `shares`: the net shares that customers bought by prints without a delta;
 * - `deltaShares`: delta times the net shares that customers bought by prints with a delta;
 * - `pending…`: the figures of the pending prints. The shares of pending prints are not yet multiplied by the aggressor, 1 or -1.
 *
 * Only corrupt data leads to figures of more than 53 bits, the precision of a double.
 */
export const CELL = {
  prints: 0,
  contracts: 1,
  bought: 2,
  sold: 3,
  shares: 4,
  deltaShares: 5,
  pendingPrints: 6,
  pendingContracts: 7,
  pendingShares: 8,
  pendingPremium: 9,
  pendingDeltaShares: 10,
  width: 11,
} as const;

/** Returns the rounding error of `sum`, which is the rounded result of `before + amount` (Knuth's two-sum). */
export function lostIn(sum: number, before: number, amount: number): number {
  const added = sum - before;
  return before - (sum - added) + (amount - added);
}

/** The unit of premium is a ten-thousandth of a dollar, the resolution of quoted prices. */
export const PREMIUM_UNITS = 10_000;
/** The unit of delta times shares is a ten-millionth of a share. The rounding errors of a million prints add up to a few cents. */
export const SHARE_PARTS = 10_000_000;

/** Converts shares to whole units of 1 / SHARE_PARTS shares. */
export function toShareParts(shares: number): number {
  return Math.round(shares * SHARE_PARTS);
}

/** Sums the prints with a premium of at least `minPremium` dollars. Smaller prints are used only to find the price changes. */
export function sumsOf(columns: TapeColumns, minPremium = 0): TapeSums {
  const { count, contracts, contract, price, size, multiplier, bid, ask, delta, flags } = columns;
  const byContract = new Float64Array(contracts.strike.length * BY_CONTRACT.width);
  const seen = new Uint8Array(contracts.strike.length);
  const cells = new Cells();
  for (let row = 0; row < count; row++) {
    const number = contract[row]!;
    const offset = number * BY_CONTRACT.width;
    const paid = price[row]!;
    const middle = ask[row]! > bid[row]! ? (bid[row]! + ask[row]!) / 2 : Number.NaN;
    let direction = 0;
    if (seen[number] === 0) {
      seen[number] = 1;
      byContract[offset + BY_CONTRACT.firstPrice] = paid;
      byContract[offset + BY_CONTRACT.firstMiddle] = middle;
    } else {
      const last = byContract[offset + BY_CONTRACT.lastPrice]!;
      direction = moveOf(last, byContract[offset + BY_CONTRACT.lastMiddle]!, paid, middle);
      direction ||= byContract[offset + BY_CONTRACT.direction]!;
      byContract[offset + BY_CONTRACT.direction] = direction;
    }
    byContract[offset + BY_CONTRACT.lastPrice] = paid;
    byContract[offset + BY_CONTRACT.lastMiddle] = middle;

    const contractsTraded = size[row]!;
    const shares = contractsTraded * multiplier[row]!;
    const premium = paid * contractsTraded * multiplier[row]!;
    if (premium < minPremium) continue;
    const flag = flags[row]!;
    const side = flag & FLAG.side;
    const signByQuote = !Number.isNaN(middle) ? change(middle, paid) : 0;
    const knownSign = side === FLAG.ask ? 1 : side === FLAG.bid ? -1 : signByQuote;
    const aggressor = knownSign || direction;
    const units = Math.round(premium * PREMIUM_UNITS);
    const printDelta = delta[row]!;
    const hasDelta = !Number.isNaN(printDelta);
    const cell = cells.offsetOf(number, mannerOf(flag));
    const { values } = cells;
    values[cell + CELL.prints]! += 1;
    values[cell + CELL.contracts]! += contractsTraded;
    if (aggressor === 0) {
      values[cell + CELL.pendingPrints]! += 1;
      values[cell + CELL.pendingContracts]! += contractsTraded;
      cells.add(cell + CELL.pendingPremium, units);
      if (hasDelta) cells.add(cell + CELL.pendingDeltaShares, toShareParts(printDelta * shares));
      else values[cell + CELL.pendingShares]! += shares;
      continue;
    }
    cells.add(cell + (aggressor === 1 ? CELL.bought : CELL.sold), units);
    if (hasDelta) cells.add(cell + CELL.deltaShares, aggressor * toShareParts(printDelta * shares));
    else values[cell + CELL.shares]! += aggressor * shares;
    const rule =
      knownSign === 0
        ? BY_CONTRACT.tick
        : side === FLAG.ask || side === FLAG.bid
          ? BY_CONTRACT.feed
          : BY_CONTRACT.quote;
    byContract[offset + BY_CONTRACT.net]! += aggressor * contractsTraded;
    byContract[offset + rule]! += 1;
  }
  return withoutIdle({ contracts, byContract, cells: cells.takeAll() }, seen);
}

/** Removes the contracts without prints, which would otherwise have a price of 0. */
function withoutIdle({ contracts, byContract, cells }: TapeSums, seen: Uint8Array): TapeSums {
  const left = Uint32Array.from(seen.keys()).filter((contract) => seen[contract] === 1);
  if (left.length === seen.length) return { contracts, byContract, cells };
  const numbers = new Uint32Array(seen.length);
  const figures = new Float64Array(left.length * BY_CONTRACT.width);
  for (const [number, contract] of left.entries()) {
    numbers[contract] = number;
    const from = contract * BY_CONTRACT.width;
    figures.set(byContract.subarray(from, from + BY_CONTRACT.width), number * BY_CONTRACT.width);
  }
  return {
    contracts: {
      series: contracts.series,
      seriesIndex: left.map((contract) => contracts.seriesIndex[contract]!),
      strike: Float64Array.from(left, (contract) => contracts.strike[contract]!),
    },
    byContract: figures,
    cells: { ...cells, contract: cells.contract.map((contract) => numbers[contract]!) },
  };
}

/** Combines the sums of consecutive runs of prints. Callers must add the runs in time order. */
export class TapeSummer {
  readonly #numbers = new ContractNumbers();
  readonly #cells = new Cells();
  #byContract = new Float64Array(BY_CONTRACT.width * 1024);

  add({ contracts, byContract, cells }: TapeSums): void {
    const before = this.#numbers.count;
    const numbers = this.#numbers.ofAll(contracts);
    this.#byContract = grown(this.#byContract, this.#numbers.count * BY_CONTRACT.width);
    const sums = this.#byContract;
    const leads = new Int8Array(numbers.length);
    for (let from = 0, contract = 0; contract < numbers.length; contract++, from += BY_CONTRACT.width) {
      const to = numbers[contract]! * BY_CONTRACT.width;
      if (numbers[contract]! >= before) {
        for (let field = 0; field < BY_CONTRACT.width; field++) sums[to + field] = byContract[from + field]!;
        continue;
      }
      const lead =
        moveOf(
          sums[to + BY_CONTRACT.lastPrice]!,
          sums[to + BY_CONTRACT.lastMiddle]!,
          byContract[from + BY_CONTRACT.firstPrice]!,
          byContract[from + BY_CONTRACT.firstMiddle]!,
        ) || sums[to + BY_CONTRACT.direction]!;
      leads[contract] = lead;
      sums[to + BY_CONTRACT.lastPrice] = byContract[from + BY_CONTRACT.lastPrice]!;
      sums[to + BY_CONTRACT.lastMiddle] = byContract[from + BY_CONTRACT.lastMiddle]!;
      sums[to + BY_CONTRACT.direction] = byContract[from + BY_CONTRACT.direction]! || lead;
      for (let field = BY_CONTRACT.net; field < BY_CONTRACT.width; field++)
        sums[to + field]! += byContract[from + field]!;
    }
    for (let from = 0, cell = 0; cell < cells.count; cell++, from += CELL.width) {
      const contract = cells.contract[cell]!;
      const to = this.#cells.offsetOf(numbers[contract]!, cells.manner[cell]!);
      this.#addCell(to, cells, from, leads[contract]!, numbers[contract]! * BY_CONTRACT.width);
    }
  }

  /** Adds the cell at `offset` in `from` to the cell at `to`. `lead` is the aggressor of the pending prints, or 0 if it is unknown. */
  #addCell(to: number, from: TapeCells, offset: number, lead: number, contract: number): void {
    const cells = this.#cells;
    for (let field = 0; field < CELL.pendingPrints; field++) cells.addFrom(to + field, from, offset + field, 1);
    const { values } = from;
    if (values[offset + CELL.pendingPrints] === 0) return;
    if (lead === 0) {
      for (let field = CELL.pendingPrints; field < CELL.width; field++)
        cells.addFrom(to + field, from, offset + field, 1);
      return;
    }
    cells.addFrom(to + (lead === 1 ? CELL.bought : CELL.sold), from, offset + CELL.pendingPremium, 1);
    cells.addFrom(to + CELL.shares, from, offset + CELL.pendingShares, lead);
    cells.addFrom(to + CELL.deltaShares, from, offset + CELL.pendingDeltaShares, lead);
    this.#byContract[contract + BY_CONTRACT.net]! += lead * values[offset + CELL.pendingContracts]!;
    this.#byContract[contract + BY_CONTRACT.tick]! += values[offset + CELL.pendingPrints]!;
  }

  /** Returns the sums: figures by contract of all runs, and cells of the runs since the previous call. */
  sums(): TapeSums {
    const { count } = this.#numbers;
    return {
      contracts: this.#numbers.contracts(),
      byContract: this.#byContract.slice(0, count * BY_CONTRACT.width),
      cells: this.#cells.takeAll(),
    };
  }
}

/**
 * Returns the direction of a contract's price change between two prints. Compares the middles of the quotes if both prints have a quote.
 * Otherwise compares the prices.
 */
function moveOf(lastPrice: number, lastMiddle: number, price: number, middle: number): 1 | -1 | 0 {
  return !Number.isNaN(middle) && !Number.isNaN(lastMiddle) ? change(lastMiddle, middle) : change(lastPrice, price);
}

function mannerOf(flag: number): number {
  if (flag & FLAG.multiLeg) return 0;
  if (flag & FLAG.sweep) return 1;
  return flag & FLAG.block ? 2 : 3;
}

/** Sums of cells. A cell is created when it is first used. */
class Cells {
  values = new Float64Array(CELL.width * 1024);
  #lost: Float64Array | undefined;
  #slots = new Int32Array(4 * 1024);
  #used: number[] = [];

  add(index: number, amount: number): void {
    const before = this.values[index]!;
    const sum = before + amount;
    this.values[index] = sum;
    const lost = lostIn(sum, before, amount);
    if (lost !== 0) this.#addLost(index, lost);
  }

  addFrom(index: number, from: TapeCells, fromIndex: number, sign: number): void {
    this.add(index, sign * from.values[fromIndex]!);
    if (from.lost) this.#addLost(index, sign * from.lost[fromIndex]!);
  }

  #addLost(index: number, amount: number): void {
    this.#lost = grown(this.#lost ?? new Float64Array(0), this.values.length);
    this.#lost[index]! += amount;
  }

  /** Returns the index in `values` at which the figures of a cell begin. The next call may replace the array `values` by a longer array. */
  offsetOf(contract: number, manner: number): number {
    const key = 4 * contract + manner;
    this.#slots = grown(this.#slots, key + 1);
    const slot = this.#slots[key]!;
    if (slot > 0) return (slot - 1) * CELL.width;
    this.#slots[key] = this.#used.push(key);
    this.values = grown(this.values, this.#used.length * CELL.width);
    return (this.#used.length - 1) * CELL.width;
  }

  /** Returns all cells, and then clears them. */
  takeAll(): TapeCells {
    const used = this.#used;
    const count = used.length;
    const values = this.values.slice(0, count * CELL.width);
    for (const key of used) this.#slots[key] = 0;
    this.values.fill(0, 0, count * CELL.width);
    this.#used = [];
    const lost = this.#lost && grown(this.#lost, values.length).slice(0, values.length);
    this.#lost = undefined;
    const [contract, manner] = [new Uint32Array(count), new Uint8Array(count)];
    for (let cell = 0; cell < count; cell++) {
      contract[cell] = used[cell]! >> 2;
      manner[cell] = used[cell]! & 3;
    }
    return { count, contract, manner, values, lost };
  }
}

/** Returns the array itself if it has at least `length` elements. Otherwise returns a longer copy of the array. */
function grown<T extends Float64Array | Int32Array>(array: T, length: number): T {
  if (array.length >= length) return array;
  const longer = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}
