import type { Database } from 'bun:sqlite';
import type { Prints } from '../../market/feed.ts';
import { type DayRows, PrintBatch } from '../../market/print-batch.ts';
import type { Print } from '../../market/prints.ts';
import { MOVED_AT_ONCE } from './pack-tape.ts';
import type { PrintRows } from './print-rows.ts';
import type { PrintSums } from './print-sums.ts';
import { findCopies, isCorrectedSince, isSamePrint, type StoredCopy, validCopyOf } from './stored-copies.ts';
import { type TapeDay, tapeIdOf } from './tape-days.ts';
import { CANCELED, CORRECTED } from './tape-entries.ts';
import type { TapeParts } from './tape-parts.ts';
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

/** The result of a save. */
interface Saved {
  /** Number of prints that had a new id. */
  readonly added: number;
  /** Number of prints that corrected or canceled a stored print. */
  readonly changed: number;
}

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
     * Applies a print to the copies with its id, in parts (`before`) or added by this save, `first` first. A correction replaces the valid
     * copy, a cancellation only marks it. Returns false if the print changes nothing.
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
