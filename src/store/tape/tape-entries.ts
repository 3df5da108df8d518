import { recordOf } from '../../core/record-of.ts';
import type { PrintBatch } from '../../market/print-batch.ts';
import { ContractNumbers, FLAG, NUMBERS, pickRows, type TapeColumns } from '../../market/tape-columns.ts';
import type { TapeId } from './tape-days.ts';

/** Prints of a part, with canceled and corrected ones, and a digest of two words of 32 bits for each id. */
export interface TapeEntries extends TapeColumns {
  readonly ids: Uint32Array;
}

/** Flags of entries that are no longer valid, because the entry was canceled or was replaced by a correction. */
export const CANCELED = 32;
export const CORRECTED = 64;

/** Returns rows of a batch, in time order, as entries. `digests` and `retired` (CANCELED, CORRECTED or 0) are of all rows of the batch. */
export function entriesOf(
  prints: PrintBatch,
  rows: readonly number[],
  digests: Uint32Array,
  retired: Uint8Array,
): TapeEntries {
  const count = rows.length;
  const contracts = new ContractNumbers();
  const numbers = new Int32Array(prints.contracts.length).fill(-1);
  const contract = new Uint32Array(count);
  const flags = new Uint8Array(count);
  const ids = new Uint32Array(2 * count);
  for (let to = 0; to < count; to++) {
    const row = rows[to]!;
    const own = prints.contract[row]!;
    if (numbers[own]! < 0) numbers[own] = contracts.of(prints.contracts[own]!);
    contract[to] = numbers[own]!;
    flags[to] = (prints.flags[row]! & OWN_FLAGS) | retired[row]!;
    ids[2 * to] = digests[2 * row]!;
    ids[2 * to + 1] = digests[2 * row + 1]!;
  }
  const columns = recordOf(NUMBERS, (name) => {
    const [from, column] = [prints[name], new Float64Array(count)];
    for (let to = 0; to < count; to++) column[to] = from[rows[to]!]!;
    return column;
  });
  return { count, contracts: contracts.contracts(), contract, ...columns, flags, ids };
}

/** The bits of a batch's flags that an entry has too. */
const OWN_FLAGS = FLAG.side | FLAG.multiLeg | FLAG.sweep | FLAG.block;

/** Returns the columns of the valid entries. If all entries are valid, returns `columns` itself. */
export function validRows(columns: TapeColumns): TapeColumns {
  const { count, flags } = columns;
  const rows = new Uint32Array(count);
  let valid = 0;
  for (let row = 0; row < count; row++) if ((flags[row]! & (CANCELED | CORRECTED)) === 0) rows[valid++] = row;
  return valid === count ? columns : pickRows(columns, rows.subarray(0, valid));
}

/** Returns the prints from `fromMs` to `toMs` of at least `minPremiumUsd` dollars; `columns` itself if these are all. */
export function printsWithin(columns: TapeColumns, fromMs: number, toMs: number, minPremiumUsd = 0): TapeColumns {
  const { at, count, price, size, multiplier } = columns;
  if (minPremiumUsd <= 0 && (count === 0 || (at[0]! >= fromMs && at[count - 1]! <= toMs))) return columns;
  const rows = new Uint32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) {
    const isWithin = at[row]! >= fromMs && at[row]! <= toMs;
    if (isWithin && price[row]! * size[row]! * multiplier[row]! >= minPremiumUsd) rows[found++] = row;
  }
  return pickRows(columns, rows.subarray(0, found));
}

/** Returns the fields that are equal in all packed prints of a tape. Packed prints have no id, and do not count as canceled. */
export function packedFieldsOf({ simulated, underlying }: TapeId) {
  return { id: '', canceled: false, underlying, simulated: simulated === 1 };
}

/** Returns the entries from the row `from` (included) to the row `to` (excluded). The result shares memory with `entries`. */
export function sliceEntries(entries: TapeEntries, from: number, to: number): TapeEntries {
  if (from === 0 && to === entries.count) return entries;
  return {
    count: to - from,
    contracts: entries.contracts,
    contract: entries.contract.subarray(from, to),
    ...recordOf(NUMBERS, (name) => entries[name].subarray(from, to)),
    flags: entries.flags.subarray(from, to),
    ids: entries.ids.subarray(2 * from, 2 * to),
  };
}

/** Merges columns of prints or of entries in time order. Among prints of the same moment, the prints of `first` come first. */
export function merged<T extends TapeColumns | TapeEntries>(first: T, second: T): T {
  const numbers = new ContractNumbers();
  const [ofFirst, ofSecond] = [numbers.ofAll(first.contracts), numbers.ofAll(second.contracts)];
  const count = first.count + second.count;
  const contract = new Uint32Array(count);
  for (let row = 0; row < first.count; row++) contract[row] = ofFirst[first.contract[row]!]!;
  for (let row = 0; row < second.count; row++) contract[first.count + row] = ofSecond[second.contract[row]!]!;
  const columns = recordOf(NUMBERS, (name) => joined(first[name], second[name], new Float64Array(count)));
  const flags = joined(first.flags, second.flags, new Uint8Array(count));
  const both: TapeColumns = { count, contracts: numbers.contracts(), contract, ...columns, flags };
  const ids = 'ids' in first && 'ids' in second ? joined(first.ids, second.ids, new Uint32Array(2 * count)) : undefined;
  // If `second` begins after the end of `first`, no sorting is needed.
  const isSorted = first.count === 0 || second.count === 0 || first.at[first.count - 1]! <= second.at[0]!;
  const order = isSorted ? undefined : orderOf(first, second);
  const all = order ? pickRows(both, order) : both;
  return (ids ? { ...all, ids: order ? pickPairs(ids, order) : ids } : all) as T;
}

/** Merges one or more lists of entries in time order. Among entries of the same moment, the entries of earlier lists come first. */
export function mergedAll(all: readonly TapeEntries[]): TapeEntries {
  const half = all.length >> 1;
  return half === 0 ? all[0]! : merged(mergedAll(all.slice(0, half)), mergedAll(all.slice(half)));
}

function joined<Column extends Float64Array | Uint32Array | Uint8Array>(first: Column, second: Column, into: Column) {
  into.set(first);
  into.set(second, first.length);
  return into;
}

function orderOf(first: TapeColumns, second: TapeColumns): Uint32Array {
  const order = new Uint32Array(first.count + second.count);
  for (let a = 0, b = 0, to = 0; to < order.length; to++) {
    const isFirst = b >= second.count || (a < first.count && first.at[a]! <= second.at[b]!);
    order[to] = isFirst ? a++ : first.count + b++;
  }
  return order;
}

function pickPairs(pairs: Uint32Array, rows: Uint32Array): Uint32Array {
  const picked = new Uint32Array(2 * rows.length);
  for (let to = 0; to < rows.length; to++) {
    picked[2 * to] = pairs[2 * rows[to]!]!;
    picked[2 * to + 1] = pairs[2 * rows[to]! + 1]!;
  }
  return picked;
}
