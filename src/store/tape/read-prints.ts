import type { Print } from '../../market/prints.ts';
import type { PrintRange, PrintStore } from '../../market/store.ts';
import { PARTS, type Stretch } from '../../market/tape.ts';
import { dayOf, printOfRow, type TapeColumns } from '../../market/tape-columns.ts';
import { sumsOf } from '../../market/tape-sums.ts';
import type { BlockSums } from './block-sums.ts';
import { beforeRowsOf, type ColumnRow, columnsOfRows, type PrintRows } from './print-rows.ts';
import { endOfDay, type TapeDay, type TapeId, tapeIdOf } from './tape-days.ts';
import { merged, packedFieldsOf, printsWithin } from './tape-entries.ts';
import { byArrival, type Part, type TapeParts } from './tape-parts.ts';

/** Creates the functions that read prints, first those in parts and then rows of a moment, `rowsAtOnce` rows at once. */
export function printReader(rows: PrintRows, parts: TapeParts, rowsAtOnce: number) {
  /** Yields the packed prints of a range. Each item contains prints of a single part. */
  function* packed(...[underlying, fromMs, toMs, simulated, minPremiumUsd]: PrintRange) {
    const within = parts.within(tapeIdOf(underlying, simulated), fromMs, toMs);
    for (const part of byArrival(within, fromMs, toMs)) {
      yield { day: part.day, columns: printsWithin(parts.largeOf(part, minPremiumUsd), fromMs, toMs, minPremiumUsd) };
    }
  }

  /** Returns the prints of a range. */
  const prints: PrintStore['prints'] = (...range) => {
    const [underlying, , , simulated] = range;
    const ofParts = packed(...range)
      .map(({ columns }) => printsOf(columns, tapeIdOf(underlying, simulated)))
      .toArray()
      .flat();
    const ofRows = rows.atLeast(...range);
    // The sort is stable, so prints of the same moment stay in order of arrival, and packed prints before rows.
    return ofParts.length === 0 ? ofRows : [...ofParts, ...ofRows].sort((a, b) => a.at - b.at);
  };

  /** Returns false if a range has no prints. Returns true if the range may have prints, even if the prints are canceled. */
  const mayHave = (underlying: string, fromMs: number, toMs: number, simulated: boolean): boolean => {
    const tape = tapeIdOf(underlying, simulated);
    return rows.has(tape, fromMs, toMs) || parts.first(tape, fromMs, toMs) !== undefined;
  };

  /** Yields the prints of a range as columns. Each step reads overlapping parts or some rows. Prints may be packed between two steps. */
  function* largePrints(
    ...[underlying, fromMs, toMs, simulated, minPremiumUsd]: PrintRange
  ): Generator<TapeColumns, void> {
    const tape = tapeIdOf(underlying, simulated);
    // All parts before the moment `from` and all rows up to `cursor` have been read.
    let from = fromMs;
    let cursor = beforeRowsOf(fromMs);
    while (from <= toMs || cursor.atMs <= toMs) {
      const part = from <= toMs ? parts.first(tape, from, toMs) : undefined;
      const untilMost = Math.min(toMs, part?.toAt ?? toMs);
      const group = part ? byArrival(parts.ofDay({ ...tape, day: part.day }), from, untilMost) : [];
      const found = rows.nextAtLeast(tape, cursor, untilMost, minPremiumUsd, rowsAtOnce);
      const { taken, until, isWhole } = wholeMoments(found, rowsAtOnce, untilMost);
      const ofParts = group
        .filter(({ fromAt }) => fromAt <= until)
        .map((part) => printsWithin(parts.largeOf(part, minPremiumUsd), from, until, minPremiumUsd));
      const all = [...ofParts, columnsOfRows(taken)].filter(({ count }) => count > 0);
      from = until + 1;
      cursor = isWhole ? beforeRowsOf(from) : { atMs: until, rowid: taken.at(-1)!.rowid };
      // Yields even if there are no prints, so that other work can run after the decoding of the parts.
      yield all.length > 0 ? all.reduce(merged) : columnsOfRows([]);
    }
  }

  const lastPrintAt: PrintStore['lastPrintAt'] = (underlying, simulated, untilMs = Number.MAX_SAFE_INTEGER) => {
    const tape = tapeIdOf(underlying, simulated);
    let last = rows.lastAt(tape, untilMs);
    for (const part of parts.before(tape, untilMs)) {
      if (last !== undefined && last >= Math.min(part.toAt, untilMs)) break;
      const { at } =
        part.retired === 0 && part.lastAt !== null && part.lastAt <= untilMs
          ? { at: [part.lastAt] }
          : printsWithin(parts.validColumnsOf(part), 0, untilMs);
      if (at.length > 0) last = Math.max(at.at(-1)!, last ?? 0);
    }
    return last;
  };

  const tapeVersion: PrintStore['tapeVersion'] = (underlying, fromMs, toMs, simulated) => {
    const tape = tapeIdOf(underlying, simulated);
    const ofRows = rows.count(tape, fromMs, toMs);
    const ofParts = parts.counts(tape, fromMs, toMs);
    const count = ofRows.entries + ofParts.entries;
    return { count, version: `${count}.${ofRows.canceled + ofParts.entries - ofParts.valid}` };
  };

  return { packed, prints, mayHave, largePrints, lastPrintAt, tapeVersion };
}

function printsOf(columns: TapeColumns, tape: TapeId): Print[] {
  const fields = packedFieldsOf(tape);
  return Array.from({ length: columns.count }, (_, row) => printOfRow(columns, row, fields));
}

/**
 * Shortens a full batch of `most` rows so that it does not split the prints of one moment. If all have the same moment, prints of the
 * moment `until` are missing, and `isWhole` is false.
 */
function wholeMoments(found: readonly ColumnRow[], most: number, until: number) {
  if (found.length < most) return { taken: found, until, isWhole: true };
  const lastAt = found.at(-1)!.at;
  const taken = found.filter(({ at }) => at < lastAt);
  return taken.length > 0
    ? { taken, until: lastAt - 1, isWhole: true }
    : { taken: found, until: lastAt, isWhole: false };
}

/** The dependencies of `stretchReader`. The function `prints` reads the prints of a range. */
interface StretchDeps {
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
