import type { Database } from 'bun:sqlite';
import type { Prints } from '../../market/feed.ts';
import { type DayRows, PrintBatch } from '../../market/print-batch.ts';
import type { Print } from '../../market/prints.ts';
import { printOfRow, type TapeColumns } from '../../market/tape-columns.ts';
import { MOVED_AT_ONCE } from './pack-tape.ts';
import type { PrintRows } from './print-rows.ts';
import type { PrintSums } from './print-sums.ts';
import { type TapeDay, tapeIdOf } from './tape-days.ts';
import { CANCELED, CORRECTED, packedFieldsOf } from './tape-entries.ts';
import type { Part, TapeParts } from './tape-parts.ts';
import type { PartWriter } from './write-parts.ts';

/** The dependencies of `printSaver`. */
export interface SaveDeps {
  readonly rows: PrintRows;
  readonly parts: TapeParts;
  readonly writer: PartWriter;
  readonly sums: PrintSums;
  /** Moves the oldest rows of a day into the parts of the day. Returns the number of moved rows. */
  readonly moveRows: (tapeDay: TapeDay, limit: number) => number;
}

/** The numbers of prints with a new id, and of prints that corrected or canceled a stored print. */
type Saved = Readonly<{ added: number; changed: number }>;

/**
 * Returns a function that saves prints in one transaction: as rows, or with `atOnce` in parts, if a day has at least `partsFrom` new prints
 * and fewer than MOVED_AT_ONCE rows, which it first moves into parts. A copy is a stored version of a print. The valid copy is neither
 * corrected nor canceled.
 */
export function printSaver(db: Database, { rows, parts, writer, sums, moveRows }: SaveDeps, partsFrom: number) {
  /** Saves a print as a row. `packed` has its copies in parts. Returns `undefined` if the print changes nothing. */
  const saveRow = (print: Print, packed: readonly StoredCopy[]): 'added' | 'changed' | undefined => {
    if (packed.length === 0 && rows.insert(print)) {
      if (!print.canceled) sums.count(print, 1);
      return 'added';
    }
    const stored = rows.withIdOf(print);
    const validCopy = stored ? undefined : validCopyOf(packed);
    const valid = stored?.canceled === false ? stored : validCopy?.print();
    if (valid === undefined || isSamePrint(valid, print)) return undefined;
    // If a feed reads a tape again, the earlier version of a corrected print arrives first. The earlier version changes nothing.
    const isEarlier = rows.correctedCopiesOf(print).some((earlier) => isSamePrint(earlier, print));
    if (isEarlier || isCorrectedSince(packed, print)) return undefined;
    sums.count(valid, -1);
    if (validCopy) validCopy.retire(print.canceled ? CANCELED : CORRECTED);
    else if (print.canceled) rows.cancel(valid);
    else rows.markCorrected(valid);
    if (!print.canceled) {
      rows.insert(print);
      sums.count(print, 1);
    }
    return 'changed';
  };

  /** Saves the prints of one day directly into parts. The day must have no rows, so that the parts have all copies. */
  const saveInParts = (tapeDay: TapeDay, prints: PrintBatch): Saved => {
    const { digests, first: firstOf, copies: packed } = findCopies(parts, tapeDay, prints);
    /** Indices of the prints that this save adds, grouped by id. The key is the index of the first print with the id. */
    const newByFirst = new Map<number, number[]>();
    const retired = new Uint8Array(prints.length);
    const toPack: number[] = [];
    const toCount: number[] = [];
    const newCopy = (i: number): StoredCopy => ({
      get flag() {
        return retired[i]!;
      },
      print: () => prints.print(i),
      retire(flag) {
        retired[i]! |= flag;
      },
    });
    const add = (i: number) => {
      if (prints.isCanceled(i)) retired[i] = CANCELED;
      else toCount.push(i);
      toPack.push(i);
    };
    /**
     * Applies a print to the copies with its id: a correction replaces the valid copy, a cancellation marks it. False if nothing changes.
     */
    const change = (i: number, first: number, before: readonly StoredCopy[] | undefined): boolean => {
      const print = prints.print(i);
      // If the parts have no copy, this save has added the first print with the id. The first print is then one of the copies.
      const newOfId = newByFirst.get(first) ?? (before === undefined ? [first] : []);
      const copies = [...(before ?? []), ...newOfId.map(newCopy)];
      const validCopy = validCopyOf(copies);
      const valid = validCopy?.print();
      if (validCopy === undefined || valid === undefined || isSamePrint(valid, print)) return false;
      if (isCorrectedSince(copies, print)) return false;
      sums.count(valid, -1);
      validCopy.retire(print.canceled ? CANCELED : CORRECTED);
      if (!print.canceled) {
        add(i);
        newByFirst.set(first, [...newOfId, i]);
      }
      return true;
    };
    let [added, changed] = [0, 0];
    for (let i = 0; i < prints.length; i++) {
      assertValidNumbers(prints, i);
      const first = firstOf(i);
      const before = packed.get(first);
      if (first === i && before === undefined) {
        added++;
        add(i);
      } else if (change(i, first, before)) changed++;
    }
    sums.countRows(tapeDay, prints, toCount);
    writer.add(tapeDay, { prints, digests, retired }, toPack);
    return { added, changed };
  };

  /** For each print of the given days, returns the copies in parts that have the same id. The key is the row of the print. */
  const packedCopies = (prints: PrintBatch, days: readonly DayRows[]): Map<number, StoredCopy[]> => {
    const copies = new Map<number, StoredCopy[]>();
    for (const { rows: dayRows, ...day } of days) {
      const tapeDay = { ...day, simulated: Number(day.simulated) };
      if (parts.ofDay(tapeDay).length === 0) continue;
      const { first, copies: packed } = findCopies(parts, tapeDay, prints.pick(dayRows));
      for (const [i, row] of dayRows.entries()) copies.set(row, packed.get(first(i)) ?? []);
    }
    return copies;
  };

  const saveAll = (prints: PrintBatch, atOnce: boolean): Saved => {
    const total = { added: 0, changed: 0 };
    sums.refresh();
    const others: DayRows[] = [];
    for (const day of prints.byDay()) {
      const tapeDay = { ...tapeIdOf(day.underlying, day.simulated), day: day.day };
      // If a day may still have rows, its prints are also saved as rows, so that the order of arrival is preserved.
      if (!atOnce || day.rows.length < partsFrom || moveRows(tapeDay, MOVED_AT_ONCE) === MOVED_AT_ONCE) {
        others.push(day);
        continue;
      }
      const { added, changed } = saveInParts(tapeDay, prints.pick(day.rows));
      total.added += added;
      total.changed += changed;
    }
    const copies = packedCopies(prints, others);
    const asRows = others.flatMap(({ rows }) => rows).sort((a, b) => a - b);
    for (const row of asRows) {
      const result = saveRow(prints.print(row), copies.get(row) ?? []);
      if (result) total[result]++;
    }
    return total;
  };
  const save = db.transaction((prints: Prints, atOnce: boolean) =>
    rows.counted(() => saveAll(PrintBatch.of(prints), atOnce)),
  );

  return (prints: Prints, atOnce: boolean): Saved => save.immediate(prints, atOnce);
}

/** Throws `RangeError`, like SQLite for a NaN, if a number is not finite, `at` no safe integer, or `callPut` neither 1 nor -1. */
function assertValidNumbers(prints: PrintBatch, row: number): void {
  const { callPut, strike } = prints.contracts[prints.contract[row]!]!;
  const at = prints.at[row]!;
  // The sum is not finite if one of the numbers is not finite.
  const sum = strike + prints.price[row]! + prints.size[row]! + prints.multiplier[row]!;
  const isValid = Number.isFinite(sum) && Number.isSafeInteger(at);
  if (!isValid || (callPut !== 1 && callPut !== -1))
    throw new RangeError(`NOT NULL: print ${prints.print(row).id} has an invalid number`);
}

/** A stored version of a print with a certain id. */
interface StoredCopy {
  /** 0 if the copy is valid, or else CANCELED or CORRECTED. */
  readonly flag: number;
  print(): Print;
  retire(flag: typeof CANCELED | typeof CORRECTED): void;
}

/** The position of a stored copy. */
type PartOfPrint = Readonly<{ part: Part; row: number }>;

/**
 * Finds the copies of prints in the parts of their day, by the index `first` of the first print with the same id, with the digests of the
 * ids. The method `retire` of a copy writes to the store at once.
 */
function findCopies(parts: TapeParts, tapeDay: TapeDay, prints: PrintBatch) {
  const digests = prints.digests();
  const firstOf = digestTable(digests);
  const first = (i: number): number => firstOf(digests[2 * i]!, digests[2 * i + 1]!);
  const dayParts = parts.ofDay(tapeDay);
  if (!parts.mayHave(tapeDay, digests, dayParts)) return { digests, first, copies: new Map<number, StoredCopy[]>() };
  const columnsByPart = new Map<number, TapeColumns>();
  const copyOf = ({ part, row }: PartOfPrint): StoredCopy => {
    const columns = columnsByPart.getOrInsertComputed(part.id, () => parts.columnsOf(part));
    return {
      get flag() {
        return columns.flags[row]! & (CANCELED | CORRECTED);
      },
      print: () => printOfRow(columns, row, packedFieldsOf(tapeDay)),
      retire(flag) {
        columns.flags[row]! |= flag;
        parts.retire(part, row, flag);
      },
    };
  };
  const copies = new Map([...findDigests(parts, firstOf, dayParts)].map(([i, rows]) => [i, rows.map(copyOf)]));
  return { digests, first, copies };
}

/** Finds the entries whose ids have one of the digests in a table. The key is the index of the first equal digest. */
function findDigests(parts: TapeParts, firstOf: DigestTable, dayParts: readonly Part[]): Map<number, PartOfPrint[]> {
  const found = new Map<number, PartOfPrint[]>();
  for (const part of dayParts) {
    const ids = parts.idsOf(part);
    for (let row = 0; 2 * row < ids.length; row++) {
      const i = firstOf(ids[2 * row]!, ids[2 * row + 1]!);
      if (i < 0) continue;
      found.getOrInsertComputed(i, () => []).push({ part, row });
    }
  }
  return found;
}

/** Returns whether a copy is not canceled and has the same values as a stored print. */
function isSamePrint(stored: Print, copy: Print): boolean {
  return !copy.canceled && Bun.deepEquals({ ...stored, id: '', canceled: false }, { ...copy, id: '' });
}

/** Returns whether a print is an earlier version that was corrected, because a corrected copy has the same values. */
function isCorrectedSince(copies: readonly StoredCopy[], print: Print): boolean {
  return copies.some((copy) => copy.flag === CORRECTED && isSamePrint(copy.print(), print));
}

/** Returns the copy that is neither corrected nor canceled, or `undefined` if there is no such copy. */
function validCopyOf(copies: readonly StoredCopy[]): StoredCopy | undefined {
  return copies.find(({ flag }) => flag === 0);
}

/** Returns the index of the first digest that is equal to a digest of two words, or -1. */
type DigestTable = (low: number, high: number) => number;

/** Creates a hash table of digests. */
function digestTable(digests: Uint32Array): DigestTable {
  const size = 2 ** Math.ceil(Math.log2(digests.length + 2));
  const slots = new Int32Array(size).fill(-1);
  /** Returns the index of an equal digest, or the bitwise complement (`~`) of the free slot. */
  const find = (low: number, high: number): number => {
    for (let slot = low & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const i = slots[slot]!;
      if (i < 0) return ~slot;
      if (digests[2 * i] === low && digests[2 * i + 1] === high) return i;
    }
  };
  for (let i = 0; 2 * i < digests.length; i++) {
    const slot = find(digests[2 * i]!, digests[2 * i + 1]!);
    if (slot < 0) slots[~slot] = i;
  }
  return (low, high) => Math.max(-1, find(low, high));
}
