import { change } from './prints.ts';
import { ContractNumbers, FLAG, type TapeColumns, type TapeContracts } from './tape-columns.ts';

/**
 * A stretch of tape summed by contract. The sums of two consecutive stretches can be combined into the sums of both. All figures are whole
 * numbers (premium in ten-thousandths of a dollar, delta in parts of a share), so that the order of addition does not change a sum.
 *
 * The aggressor of a trade may depend on earlier prints. A print is `pending` if only the tick rule could sign it and its contract has not
 * moved yet in the stretch. All pending prints of a contract have one sign: that of the move from the stretch before to this one, or, if
 * the price stayed the same, that of the last move before.
 */
export interface TapeSums {
  readonly contracts: TapeContracts;
  /** For each contract, the figures of `BY_CONTRACT`. */
  readonly byContract: Float64Array;
  /** For each contract and manner with a print, the figures of `CELL`. */
  readonly cells: TapeCells;
}

export interface TapeCells {
  readonly count: number;
  readonly contract: Uint32Array;
  /** Index in `MANNERS`. */
  readonly manner: Uint8Array;
  readonly values: Float64Array;
  /** Rounding errors of `values`. Both together are exact. `undefined` if no value was rounded. */
  readonly lost: Float64Array | undefined;
}

/** How a print was executed. If several apply, the first one counts. */
export const MANNERS = ['multi_leg', 'sweep', 'block', 'single'] as const;

/**
 * First and last print: price, and middle of the quote (NaN if there is none). Then the last move, the net signed contracts, and the number
 * of prints by the rule that determined their side.
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
 * `prints` and `contracts`: all prints. `bought` and `sold`: premium. `shares`: shares that customers took on by prints without a delta.
 * `deltaShares`: shares times delta of the prints with a delta, in parts of a share. Then the same of pending prints, without a sign. Only
 * corrupt data makes a figure exceed the 53 bits of a number.
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

/** The rounding error of a sum (Knuth's two-sum). */
export function lostIn(sum: number, before: number, amount: number): number {
  const added = sum - before;
  return before - (sum - added) + (amount - added);
}

/** Premium is counted in whole ten-thousandths of a dollar, the resolution of quoted prices. */
export const PREMIUM_UNITS = 10_000;
/** Delta times shares is counted in whole parts of a share. The parts are so small that a million prints are off by cents. */
export const SHARE_PARTS = 10_000_000;

export function toShareParts(shares: number): number {
  return Math.round(shares * SHARE_PARTS);
}

/** Sums the prints of at least a premium, dollars. Smaller prints only count as moves of the price. */
export function sumsOf(columns: TapeColumns, minPremium = 0): TapeSums {
  const { count, contracts, contract, price, size, multiplier, bid, ask, delta, flags } = columns;
  const byContract = new Float64Array(contracts.strike.length * BY_CONTRACT.width);
  const seen = new Uint8Array(contracts.strike.length);
  const cells = new Cells();
  for (let row = 0; row < count; row++) {
    const its = contract[row]!;
    const at = its * BY_CONTRACT.width;
    const paid = price[row]!;
    const middle = ask[row]! > bid[row]! ? (bid[row]! + ask[row]!) / 2 : Number.NaN;
    let direction = 0;
    if (seen[its] === 0) {
      seen[its] = 1;
      byContract[at + BY_CONTRACT.firstPrice] = paid;
      byContract[at + BY_CONTRACT.firstMiddle] = middle;
    } else {
      const last = byContract[at + BY_CONTRACT.lastPrice]!;
      direction = moveOf(last, byContract[at + BY_CONTRACT.lastMiddle]!, paid, middle);
      direction ||= byContract[at + BY_CONTRACT.direction]!;
      byContract[at + BY_CONTRACT.direction] = direction;
    }
    byContract[at + BY_CONTRACT.lastPrice] = paid;
    byContract[at + BY_CONTRACT.lastMiddle] = middle;

    const contractsTraded = size[row]!;
    const shares = contractsTraded * multiplier[row]!;
    const premium = paid * contractsTraded * multiplier[row]!;
    if (premium < minPremium) continue;
    const flag = flags[row]!;
    const side = flag & FLAG.side;
    const beside = !Number.isNaN(middle) ? change(middle, paid) : 0;
    const told = side === FLAG.ask ? 1 : side === FLAG.bid ? -1 : beside;
    const aggressor = told || direction;
    const units = Math.round(premium * PREMIUM_UNITS);
    const own = delta[row]!;
    const hasDelta = !Number.isNaN(own);
    const cell = cells.at(its, mannerOf(flag));
    const { values } = cells;
    values[cell + CELL.prints]! += 1;
    values[cell + CELL.contracts]! += contractsTraded;
    if (aggressor === 0) {
      values[cell + CELL.pendingPrints]! += 1;
      values[cell + CELL.pendingContracts]! += contractsTraded;
      cells.add(cell + CELL.pendingPremium, units);
      if (hasDelta) cells.add(cell + CELL.pendingDeltaShares, toShareParts(own * shares));
      else values[cell + CELL.pendingShares]! += shares;
      continue;
    }
    cells.add(cell + (aggressor === 1 ? CELL.bought : CELL.sold), units);
    if (hasDelta) cells.add(cell + CELL.deltaShares, aggressor * toShareParts(own * shares));
    else values[cell + CELL.shares]! += aggressor * shares;
    const rule =
      told === 0 ? BY_CONTRACT.tick : side === FLAG.ask || side === FLAG.bid ? BY_CONTRACT.feed : BY_CONTRACT.quote;
    byContract[at + BY_CONTRACT.net]! += aggressor * contractsTraded;
    byContract[at + rule]! += 1;
  }
  return withoutIdle({ contracts, byContract, cells: cells.taken() }, seen);
}

/** Removes the contracts without a print, since their figures would mean a price of 0. */
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

/** Adds up consecutive stretches of a tape. They must be added in the order of the tape. */
export class TapeSummer {
  readonly #numbers = new ContractNumbers();
  readonly #cells = new Cells();
  #byContract = new Float64Array(BY_CONTRACT.width * 1024);

  add({ contracts, byContract, cells }: TapeSums): void {
    const before = this.#numbers.count;
    const numbers = this.#numbers.ofAll(contracts);
    this.#byContract = grown(this.#byContract, this.#numbers.count * BY_CONTRACT.width);
    const own = this.#byContract;
    const leads = new Int8Array(numbers.length);
    for (let from = 0, contract = 0; contract < numbers.length; contract++, from += BY_CONTRACT.width) {
      const to = numbers[contract]! * BY_CONTRACT.width;
      if (numbers[contract]! >= before) {
        for (let field = 0; field < BY_CONTRACT.width; field++) own[to + field] = byContract[from + field]!;
        continue;
      }
      const lead =
        moveOf(
          own[to + BY_CONTRACT.lastPrice]!,
          own[to + BY_CONTRACT.lastMiddle]!,
          byContract[from + BY_CONTRACT.firstPrice]!,
          byContract[from + BY_CONTRACT.firstMiddle]!,
        ) || own[to + BY_CONTRACT.direction]!;
      leads[contract] = lead;
      own[to + BY_CONTRACT.lastPrice] = byContract[from + BY_CONTRACT.lastPrice]!;
      own[to + BY_CONTRACT.lastMiddle] = byContract[from + BY_CONTRACT.lastMiddle]!;
      own[to + BY_CONTRACT.direction] = byContract[from + BY_CONTRACT.direction]! || lead;
      for (let field = BY_CONTRACT.net; field < BY_CONTRACT.width; field++)
        own[to + field]! += byContract[from + field]!;
    }
    for (let from = 0, cell = 0; cell < cells.count; cell++, from += CELL.width) {
      const contract = cells.contract[cell]!;
      const to = this.#cells.at(numbers[contract]!, cells.manner[cell]!);
      this.#addCell(to, cells, from, leads[contract]!, numbers[contract]! * BY_CONTRACT.width);
    }
  }

  #addCell(to: number, from: TapeCells, at: number, lead: number, contract: number): void {
    const cells = this.#cells;
    for (let field = 0; field < CELL.pendingPrints; field++) cells.addFrom(to + field, from, at + field, 1);
    const { values: its } = from;
    if (its[at + CELL.pendingPrints] === 0) return;
    if (lead === 0) {
      for (let field = CELL.pendingPrints; field < CELL.width; field++) cells.addFrom(to + field, from, at + field, 1);
      return;
    }
    cells.addFrom(to + (lead === 1 ? CELL.bought : CELL.sold), from, at + CELL.pendingPremium, 1);
    cells.addFrom(to + CELL.shares, from, at + CELL.pendingShares, lead);
    cells.addFrom(to + CELL.deltaShares, from, at + CELL.pendingDeltaShares, lead);
    this.#byContract[contract + BY_CONTRACT.net]! += lead * its[at + CELL.pendingContracts]!;
    this.#byContract[contract + BY_CONTRACT.tick]! += its[at + CELL.pendingPrints]!;
  }

  /** Sums of all stretches that were added. The cells cover only the stretches since the last call. */
  sums(): TapeSums {
    const { count } = this.#numbers;
    return {
      contracts: this.#numbers.contracts(),
      byContract: this.#byContract.slice(0, count * BY_CONTRACT.width),
      cells: this.#cells.taken(),
    };
  }
}

/** The move of a contract from one print to the next: by the quotes' middles if both prints have one, else by price. */
function moveOf(lastPrice: number, lastMiddle: number, price: number, middle: number): 1 | -1 | 0 {
  return !Number.isNaN(middle) && !Number.isNaN(lastMiddle) ? change(lastMiddle, middle) : change(lastPrice, price);
}

function mannerOf(flag: number): number {
  if (flag & FLAG.multiLeg) return 0;
  if (flag & FLAG.sweep) return 1;
  return flag & FLAG.block ? 2 : 3;
}

/** Figures by contract and manner. A cell is created on its first use. */
class Cells {
  values = new Float64Array(CELL.width * 1024);
  #lost: Float64Array | undefined;
  #places = new Int32Array(4 * 1024);
  #used: number[] = [];

  add(at: number, amount: number): void {
    const before = this.values[at]!;
    const sum = before + amount;
    this.values[at] = sum;
    const lost = lostIn(sum, before, amount);
    if (lost !== 0) this.#lose(at, lost);
  }

  addFrom(at: number, from: TapeCells, its: number, sign: number): void {
    this.add(at, sign * from.values[its]!);
    if (from.lost) this.#lose(at, sign * from.lost[its]!);
  }

  #lose(at: number, amount: number): void {
    this.#lost = grown(this.#lost ?? new Float64Array(0), this.values.length);
    this.#lost[at]! += amount;
  }

  /** Index in `values` at which the figures of a contract and manner begin. The next call may replace `values` by a longer array. */
  at(contract: number, manner: number): number {
    const key = 4 * contract + manner;
    this.#places = grown(this.#places, key + 1);
    const place = this.#places[key]!;
    if (place > 0) return (place - 1) * CELL.width;
    this.#places[key] = this.#used.push(key);
    this.values = grown(this.values, this.#used.length * CELL.width);
    return (this.#used.length - 1) * CELL.width;
  }

  /** Returns all cells and clears them. */
  taken(): TapeCells {
    const used = this.#used;
    const count = used.length;
    const values = this.values.slice(0, count * CELL.width);
    for (const key of used) this.#places[key] = 0;
    this.values.fill(0, 0, count * CELL.width);
    this.#used = [];
    const lost = this.#lost && grown(this.#lost, values.length).slice(0, values.length);
    this.#lost = undefined;
    const [contract, manner] = [new Uint32Array(count), new Uint8Array(count)];
    for (let place = 0; place < count; place++) {
      contract[place] = used[place]! >> 2;
      manner[place] = used[place]! & 3;
    }
    return { count, contract, manner, values, lost };
  }
}

/** Returns the array itself if it is long enough, else a longer copy. */
function grown<T extends Float64Array | Int32Array>(array: T, length: number): T {
  if (array.length >= length) return array;
  const longer = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}
