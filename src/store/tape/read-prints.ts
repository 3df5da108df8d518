import type { Print } from '../../market/prints.ts';
import type { PrintRange, PrintStore } from '../../market/store.ts';
import { printOfRow, type TapeColumns } from '../../market/tape-columns.ts';
import { beforeRowsOf, type ColumnRow, columnsOfRows, type PrintRows } from './print-rows.ts';
import { type TapeId, tapeIdOf } from './tape-days.ts';
import { merged, packedFieldsOf, printsWithin } from './tape-entries.ts';
import { byArrival, type TapeParts } from './tape-parts.ts';

/**
 * Creates the functions that read prints from rows and parts, by time and arrival: prints in parts arrived before rows of the same moment.
 * `rowsAtOnce` is the number of rows in one read of `largePrints`.
 */
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

/** Rows that are read together, up to the moment `until`. If `isWhole` is false, prints of this moment are missing. */
interface TakenRows {
  readonly taken: readonly ColumnRow[];
  readonly until: number;
  readonly isWhole: boolean;
}

/** Shortens a full batch of `most` rows so that it does not split the prints of one moment, unless all have the same moment. */
function wholeMoments(found: readonly ColumnRow[], most: number, until: number): TakenRows {
  if (found.length < most) return { taken: found, until, isWhole: true };
  const lastAt = found.at(-1)!.at;
  const taken = found.filter(({ at }) => at < lastAt);
  return taken.length > 0
    ? { taken, until: lastAt - 1, isWhole: true }
    : { taken: found, until: lastAt, isWhole: false };
}
