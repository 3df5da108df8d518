import type { PrintStore } from '../../market/store.ts';
import { PARTS, type Stretch } from '../../market/tape.ts';
import { dayOf, type TapeColumns } from '../../market/tape-columns.ts';
import { sumsOf } from '../../market/tape-sums.ts';
import type { BlockSums } from './block-sums.ts';
import type { PrintRows } from './print-rows.ts';
import { endOfDay, type TapeDay, type TapeId, tapeIdOf } from './tape-days.ts';
import { merged, printsWithin } from './tape-entries.ts';
import { byArrival, type Part, type TapeParts } from './tape-parts.ts';

/** The dependencies of `stretchReader`. The function `prints` reads the prints of a range. */
export interface StretchDeps {
  readonly rows: PrintRows;
  readonly parts: TapeParts;
  readonly blocks: BlockSums;
  readonly prints: PrintStore['prints'];
}

/**
 * Creates the functions that read runs of consecutive prints: a block of parts with stored sums, overlapping parts with the rows of their
 * common period, or at most `rowsAtOnce` rows between two parts. A run never splits the prints of one moment.
 */
export function stretchReader({ rows, parts, blocks, prints }: StretchDeps, rowsAtOnce: number) {
  const stretchWith = (tapeDay: TapeDay, fromMs: number, toMs: number, columns: () => TapeColumns): Stretch => ({
    day: tapeDay.day,
    toMs,
    columns,
    sums: () => sumsOf(columns()),
    // Reads the prints from rows and parts at each call, because rows can be packed and parts can be rewritten between two steps.
    prints: () => prints(tapeDay.underlying, fromMs, toMs, tapeDay.simulated === 1, 0),
  });

  /** Returns the stretch (run of prints) that begins with the row at `fromMs`. No part may have prints from `fromMs` to `untilMs`. */
  const stretchOfRows = (tape: TapeId, fromMs: number, untilMs: number): Stretch => {
    const until = Math.min(untilMs, endOfDay(fromMs));
    const next = rows.atAfter(tape, fromMs, until, rowsAtOnce);
    // A run of prints must not split the prints of one moment.
    const last = next === undefined ? until : Math.max(fromMs, next - 1);
    return stretchWith({ ...tape, day: dayOf(fromMs) }, fromMs, last, () => rows.columns(tape, fromMs, last));
  };

  /** Returns the stretch of the block with stored sums that begins with `part`, unless other prints are within its period. */
  const summedStretch = (
    tapeDay: TapeDay,
    part: Part,
    dayParts: readonly Part[],
    toMs: number,
    mostParts: number,
  ): Stretch | undefined => {
    const i = dayParts.findIndex(({ id }) => id === part.id);
    const block = blocks.longest(i, dayParts, toMs, mostParts);
    if (block === undefined) return undefined;
    const last = block.parts.at(-1)!.toAt;
    const isShared = byArrival(dayParts, part.fromAt, last).length > block.parts.length;
    if (isShared || rows.has(tapeDay, part.fromAt, last)) return undefined;
    const columns = () => block.parts.map(parts.validColumnsOf).reduce(merged);
    return { ...stretchWith(tapeDay, part.fromAt, last, columns), sums: block.sums };
  };

  /** Returns the stretch of overlapping parts, in their order of arrival, and of the rows from `from` to `to`. */
  const stretchOfParts = (tapeDay: TapeDay, group: readonly Part[], from: number, to: number): Stretch => {
    const columns = () => {
      const all = group.map((part) => printsWithin(parts.validColumnsOf(part), from, to)).reduce(merged);
      const ofRows = rows.columns(tapeDay, from, to);
      return ofRows.count === 0 ? all : merged(all, ofRows);
    };
    return stretchWith(tapeDay, from, to, columns);
  };

  const stretch: PrintStore['stretch'] = (underlying, fromMs, toMs, simulated, mostParts) => {
    if (fromMs > toMs) return undefined;
    const tape = tapeIdOf(underlying, simulated);
    const rowAt = rows.firstAt(tape, fromMs, toMs);
    const part = parts.first(tape, fromMs, toMs);
    if (part === undefined) return rowAt === undefined ? undefined : stretchOfRows(tape, rowAt, toMs);
    const tapeDay = { ...tape, day: part.day };
    const dayParts = parts.ofDay(tapeDay);
    const to = Math.min(toMs, part.toAt);
    const group = byArrival(dayParts, fromMs, to);
    const from = group.reduce((least, { fromAt }) => Math.min(least, fromAt), part.fromAt);
    if (rowAt !== undefined && rowAt < from) return stretchOfRows(tape, rowAt, Math.min(toMs, from - 1));
    const summed = part.fromAt >= fromMs ? summedStretch(tapeDay, part, dayParts, toMs, mostParts) : undefined;
    return summed ?? stretchOfParts(tapeDay, group, Math.max(fromMs, from), to);
  };

  function* tape(...[underlying, fromMs, toMs, simulated, fromExpiry = '']: Parameters<PrintStore['tape']>) {
    for (let from = fromMs; ; ) {
      const next = stretch(underlying, from, toMs, simulated, PARTS.one);
      if (next === undefined) return;
      for (const print of next.prints()) if (print.expiry >= fromExpiry) yield print;
      from = next.toMs + 1;
    }
  }

  return { stretch, tape };
}
