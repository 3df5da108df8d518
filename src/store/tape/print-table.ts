import type { Database } from 'bun:sqlite';
import type { PrintStore } from '../../market/store.ts';
import { blockSums } from './block-sums.ts';
import { freePages, tapePacker } from './pack-tape.ts';
import { printRows } from './print-rows.ts';
import { printSums } from './print-sums.ts';
import { printReader, stretchReader } from './read-prints.ts';
import { printSaver } from './save-prints.ts';
import { tapeParts } from './tape-parts.ts';
import { PART_MAX, partWriter } from './write-parts.ts';

/** Numbers of prints that are processed together. Tests use smaller numbers than the server. */
export type TapeSizes = typeof SIZES;
const SIZES = {
  /** Prints per part. */
  part: PART_MAX,
  /** Minimum number of prints of one day that a save writes directly into parts. For fewer prints, rewriting a part takes too much time. */
  atOnce: 1_000,
  /** Maximum number of rows in one read. */
  rows: 2_048,
  /** Number of prints of a day above which the day has an index of their digests while prints are added. */
  indexed: 100_000,
};

/**
 * Creates the functions that read and write option trades, each stored once, under its id. A later copy with other values corrects the
 * print, and one that is marked as canceled cancels it permanently. Prints of the same moment stay in the order of arrival, for the tick
 * rule. New prints are rows, and those of past New York days are packed into parts with digests of the ids, which a save with `atOnce` can
 * also write. Prints in rows arrived later than those in parts of the same day. An id is looked up in the rows, and in the parts of the
 * copy's underlying and day, so a print with the id of a packed print of another day or underlying is a different print.
 */
export function printTable(db: Database, sizes: TapeSizes = SIZES): PrintStore {
  const rows = printRows(db);
  const parts = tapeParts(db, sizes.indexed);
  const writer = partWriter(db, parts, sizes.part);
  const blocks = blockSums(db, parts);
  const { packed, mayHave, prints, largePrints, lastPrintAt, tapeVersion } = printReader(rows, parts, sizes.rows);
  const { stretch, tape } = stretchReader({ rows, parts, blocks, prints }, sizes.rows);
  const { moveRows, packTape } = tapePacker(db, { rows, parts, writer, blocks });
  const sums = printSums(db, { rows: rows.atLeast, packed, mayHave });
  const save = printSaver(db, { rows, parts, writer, sums, moveRows }, sizes.atOnce);
  return {
    savePrints: (prints, { atOnce = false } = {}) => save(prints, atOnce),
    prints,
    largePrints,
    printSums: sums.printSums,
    sumPrintsFrom: sums.sumPrintsFrom,
    stretch,
    tape,
    tapeVersion,
    lastPrintAt,
    packTape,
    returnFreePages: freePages(db),
  };
}
