import type { PrintBatch } from '../../market/print-batch.ts';
import type { Print } from '../../market/prints.ts';
import { printOfRow, type TapeColumns } from '../../market/tape-columns.ts';
import type { TapeDay } from './tape-days.ts';
import { CANCELED, CORRECTED, packedFieldsOf } from './tape-entries.ts';
import type { Part, TapeParts } from './tape-parts.ts';

/** A stored version of a print with a certain id. */
export interface StoredCopy {
  /** 0 if the copy is valid, or else CANCELED or CORRECTED. */
  readonly flag: number;
  print(): Print;
  retire(flag: typeof CANCELED | typeof CORRECTED): void;
}

/** The position of a stored copy: a part, and a row of the part. */
interface PartOfPrint {
  readonly part: Part;
  readonly row: number;
}

/**
 * Finds the copies of prints in the parts of their day. `digests` has the digests of the prints' ids. `first` returns the index of the first
 * print with the id of a print, and the key of `copies` is this index. The method `retire` of a copy writes to the store at once.
 */
export function findCopies(parts: TapeParts, tapeDay: TapeDay, prints: PrintBatch) {
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
      const rows = found.get(i);
      if (rows) rows.push({ part, row });
      else found.set(i, [{ part, row }]);
    }
  }
  return found;
}

/** Returns whether a copy is not canceled and has the same values as a stored print. */
export function isSamePrint(stored: Print, copy: Print): boolean {
  return !copy.canceled && Bun.deepEquals({ ...stored, id: '', canceled: false }, { ...copy, id: '' });
}

/** Returns whether a print is an earlier version that was corrected, because a corrected copy has the same values. */
export function isCorrectedSince(copies: readonly StoredCopy[], print: Print): boolean {
  return copies.some((copy) => copy.flag === CORRECTED && isSamePrint(copy.print(), print));
}

/** Returns the copy that is neither corrected nor canceled, or `undefined` if there is no such copy. */
export function validCopyOf(copies: readonly StoredCopy[]): StoredCopy | undefined {
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
