import type { Database } from 'bun:sqlite';
import type { PrintStore } from '../../market/store.ts';
import { blockSums } from './block-sums.ts';
import { tapePacker } from './pack-tape.ts';
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
 * Creates the functions that read and write option trades. Each trade is stored only once, under its id. A copy that arrives later with
 * other values corrects the print. A copy that arrives later and is marked as canceled cancels the print permanently. A print is valid if
 * it was neither corrected nor canceled. Prints of the same moment stay in the order of their arrival, because the tick rule depends on
 * this order.
 *
 * New prints are stored as rows, and the prints of past New York days are packed into parts. A save with `atOnce` can also write to the
 * parts directly. Parts store digests of the ids. Prints in rows arrived later than the prints in parts of the same day. Among prints of
 * the same moment, the prints in parts therefore come first. The id of a copy is looked up in the rows, and in the parts of the copy's
 * underlying and day. A print with the id of a packed print, but with another day or underlying, is therefore a different print.
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
  };
}
