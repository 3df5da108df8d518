import type { Database } from 'bun:sqlite';
import { PrintBatch } from '../../market/print-batch.ts';
import { dayOf } from '../../market/tape-columns.ts';
import type { BlockSums } from './block-sums.ts';
import type { PrintRows } from './print-rows.ts';
import { rangeOfDay, type TapeDay, type TapeId } from './tape-days.ts';
import type { TapeParts } from './tape-parts.ts';
import type { PartWriter } from './write-parts.ts';

/** Maximum number of rows, and the time in ms, of a transaction that moves rows into parts, about 10 ms with its commit. */
export const MOVED_AT_ONCE = 512;
const MOVED_MS = 8;
/** Number of free pages that stay in the database file, and maximum number of pages that a step returns to the disk. */
const FREE_PAGES = 256;

/** The dependencies of `tapePacker`. */
export type PackerDeps = Readonly<{ rows: PrintRows; parts: TapeParts; writer: PartWriter; blocks: BlockSums }>;

/** Packs the prints of past New York days into parts, in short transactions (see `MarketStore.packTape`). */
export function tapePacker(db: Database, { rows, parts, writer, blocks }: PackerDeps) {
  /** Moves the oldest rows of a day into its parts, within a transaction and `rows.counted`. Returns their number. */
  const moveRows = (tapeDay: TapeDay, limit: number): number => {
    const range = rangeOfDay(tapeDay.day);
    const oldest = rows.oldest(tapeDay, ...range, limit);
    if (oldest.length === 0) return 0;
    const prints = PrintBatch.of(oldest.map(({ print }) => print));
    const retired = Uint8Array.from(oldest, ({ flag }) => flag);
    writer.add(tapeDay, { prints, digests: prints.digests(), retired }, [...oldest.keys()]);
    rows.removeOldest(tapeDay, ...range, oldest);
    return oldest.length;
  };

  /** Moves rows of the tapes in `tapes`, beginning with the last tape. Removes a tape from the array when no row is left to move. */
  const moveOldest = (tapes: TapeId[], beforeMs: number, limit: number): number => {
    const until = performance.now() + (MOVED_MS * limit) / MOVED_AT_ONCE;
    let moved = 0;
    for (let tape = tapes.at(-1); tape && moved < limit && performance.now() < until; tape = tapes.at(-1)) {
      const at = rows.oldestAt(tape);
      if (at === undefined || at >= beforeMs) tapes.pop();
      else moved += moveRows({ ...tape, day: dayOf(at) }, limit - moved);
    }
    return moved;
  };
  const move = db.transaction((tapes: TapeId[], beforeMs: number, limit: number) =>
    rows.counted(() => moveOldest(tapes, beforeMs, limit)),
  );
  const rewrite = db.transaction(writer.rewrite);
  const mergeLayer = db.transaction(writer.mergeLayer);
  const join = db.transaction(writer.join);

  /** Moves rows into parts, rewrites retired entries, and merges, joins and sums the parts of each day. */
  function* packTape(beforeDay: string, { rowsAtOnce = MOVED_AT_ONCE, newFrom = 0 } = {}): Generator<number, void> {
    const [beforeMs] = rangeOfDay(beforeDay);
    for (const tapes = rows.tapes(); tapes.length > 0; ) yield move.immediate(tapes, beforeMs, rowsAtOnce);
    for (const id of parts.retiredParts()) {
      rewrite.immediate(id);
      yield 0;
    }
    for (const tapeDay of blocks.unsummedDays(beforeDay, newFrom)) {
      while (mergeLayer.immediate(tapeDay)) yield 0;
      while (join.immediate(tapeDay)) yield 0;
      yield* blocks.addUp(tapeDay);
    }
  }

  return { moveRows, packTape };
}

/** Creates the function that returns some free pages to the disk, if there are many (see `PrintStore.returnFreePages`). */
export function freePages(db: Database): () => boolean {
  const selectFree = db.prepare<{ pages: number }, []>('SELECT freelist_count AS pages FROM pragma_freelist_count');
  return () => {
    const before = selectFree.get()!.pages;
    if (before <= FREE_PAGES) return false;
    db.query(`PRAGMA incremental_vacuum(${FREE_PAGES})`).all();
    return selectFree.get()!.pages < before;
  };
}
