import type { Database } from 'bun:sqlite';
import type { Print } from '../market/prints.ts';
import { MOVED_AT_ONCE } from './pack-tape.ts';
import type { PrintRows } from './print-rows.ts';
import type { PrintSums } from './print-sums.ts';
import { digestsOf, findCopies, isCorrectedSince, isSamePrint, type StoredCopy, validCopyOf } from './stored-copies.ts';
import { type DayOfPrints, groupByDay, type TapeDay } from './tape-days.ts';
import { CANCELED, CORRECTED } from './tape-entries.ts';
import type { TapeParts } from './tape-parts.ts';
import type { PartWriter } from './write-parts.ts';

/** The dependencies of `printSaver`. */
export interface SaveDeps {
  readonly rows: PrintRows;
  readonly parts: TapeParts;
  readonly writer: PartWriter;
  readonly sums: PrintSums;
  /** Moves the oldest rows of a day into its parts. Returns the number of rows. */
  readonly moveRows: (tapeDay: TapeDay, limit: number) => number;
}

/** Numbers of prints that were new, and that changed a stored print. */
interface Saved {
  readonly added: number;
  readonly changed: number;
}

/**
 * Saves prints in one transaction, as rows or directly in parts. `partsFrom` is the number of prints of a day from which a save with
 * `atOnce` writes them directly into parts.
 */
export function printSaver(db: Database, { rows, parts, writer, sums, moveRows }: SaveDeps, partsFrom: number) {
  /** Saves a print as a row. `packed` are the copies in parts with its id. Returns `undefined` if the print is neither new nor a change. */
  const saveRow = (print: Print, packed: readonly StoredCopy[]): 'added' | 'changed' | undefined => {
    if (packed.length === 0 && rows.insert(print)) {
      if (!print.canceled) sums.count(print, 1);
      return 'added';
    }
    const stored = rows.withIdOf(print);
    const validCopy = stored ? undefined : validCopyOf(packed);
    const valid = stored?.canceled === false ? stored : validCopy?.print();
    if (valid === undefined || isSamePrint(valid, print)) return undefined;
    // A tape that is read again delivers earlier copies before their corrections. These copies change nothing.
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

  /** Saves prints of one day directly into its parts. The day has no rows any more, so its parts have all copies. */
  const saveInParts = (tapeDay: TapeDay, prints: readonly Print[]): Saved => {
    const digests = digestsOf(prints);
    const packed = findCopies(parts, tapeDay, digests, parts.ofDay(tapeDay));
    const firstById = new Map<string, number>();
    /** Indices of the new prints of an id, by the index of the first print with this id. */
    const newById = new Map<number, number[]>();
    const retired = new Uint8Array(prints.length);
    const toPack: number[] = [];
    const newCopy = (i: number): StoredCopy => ({
      get flag() {
        return retired[i]!;
      },
      print: () => prints[i]!,
      retire(flag) {
        retired[i]! |= flag;
      },
    });
    const add = (i: number) => {
      const print = prints[i]!;
      if (print.canceled) retired[i] = CANCELED;
      else sums.count(print, 1);
      toPack.push(i);
    };
    /** Adds a print whose id has copies: `before` in parts, or the first print with the id. Returns false if it changes nothing. */
    const change = (i: number, ofId: number, before: readonly StoredCopy[] | undefined): boolean => {
      const print = prints[i]!;
      // Without copies in parts, the first print with this id is new.
      const newOfId = newById.get(ofId) ?? (before === undefined ? [ofId] : []);
      const copies = [...(before ?? []), ...newOfId.map(newCopy)];
      const validCopy = validCopyOf(copies);
      const valid = validCopy?.print();
      if (validCopy === undefined || valid === undefined || isSamePrint(valid, print)) return false;
      if (isCorrectedSince(copies, print)) return false;
      sums.count(valid, -1);
      validCopy.retire(print.canceled ? CANCELED : CORRECTED);
      if (!print.canceled) {
        add(i);
        newById.set(ofId, [...newOfId, i]);
      }
      return true;
    };
    let [added, changed] = [0, 0];
    for (let i = 0; i < prints.length; i++) {
      const print = prints[i]!;
      assertComplete(print);
      const first = firstById.get(print.id);
      if (first === undefined) firstById.set(print.id, i);
      const before = packed.get(first ?? i);
      if (first === undefined && before === undefined) {
        added++;
        add(i);
      } else if (change(i, first ?? i, before)) changed++;
    }
    writer.add(tapeDay, { prints, digests, retired }, toPack);
    return { added, changed };
  };

  /** The copies in parts of the prints of some days, by the index of the print. */
  const packedCopies = (prints: readonly Print[], days: readonly DayOfPrints[]): Map<number, StoredCopy[]> => {
    const copies = new Map<number, StoredCopy[]>();
    for (const day of days) {
      const dayParts = parts.ofDay(day);
      if (dayParts.length === 0) continue;
      const ofDay = day.indices.map((i) => prints[i]!);
      const packed = findCopies(parts, day, digestsOf(ofDay), dayParts);
      const firstById = new Map(ofDay.map(({ id }, row) => [id, row] as const).reverse());
      for (const [row, i] of day.indices.entries()) copies.set(i, packed.get(firstById.get(ofDay[row]!.id)!) ?? []);
    }
    return copies;
  };

  const saveAll = (prints: readonly Print[], atOnce: boolean): Saved => {
    const total = { added: 0, changed: 0 };
    sums.refresh();
    const inParts = new Set<number>();
    const others: DayOfPrints[] = [];
    for (const day of groupByDay(prints)) {
      // A day that may still have rows gets the prints as rows, so that they stay after the earlier rows.
      if (!atOnce || day.indices.length < partsFrom || moveRows(day, MOVED_AT_ONCE) === MOVED_AT_ONCE) {
        others.push(day);
        continue;
      }
      const { added, changed } = saveInParts(
        day,
        day.indices.map((i) => prints[i]!),
      );
      total.added += added;
      total.changed += changed;
      for (const i of day.indices) inParts.add(i);
    }
    const copies = packedCopies(prints, others);
    for (const [i, print] of prints.entries()) {
      if (inParts.has(i)) continue;
      const result = saveRow(print, copies.get(i) ?? []);
      if (result) total[result]++;
    }
    return total;
  };
  const save = db.transaction((prints: readonly Print[], atOnce: boolean) =>
    rows.counted(() => saveAll(prints, atOnce)),
  );

  return (prints: readonly Print[], atOnce: boolean): Saved => save.immediate(prints, atOnce);
}

/** Throws `RangeError` for a print that SQLite would reject as a row. */
function assertComplete({ id, at, callPut, strike, price, size, multiplier }: Print): void {
  // The sum is not finite if one of the numbers is not.
  const isWhole = Number.isFinite(strike + price + size + multiplier) && Number.isSafeInteger(at);
  if (!isWhole || (callPut !== 1 && callPut !== -1)) throw new RangeError(`NOT NULL: print ${id} lacks a number`);
}
