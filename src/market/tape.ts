import type { Print } from './prints.ts';
import { dayOf, type TapeColumns, tapeColumnsOf } from './tape-columns.ts';
import { sumsOf, type TapeSums } from './tape-sums.ts';

/** Consecutive prints of one New York day, in time order and without cancelled ones. */
export interface Stretch {
  readonly day: string;
  /** The stretch has all prints of its range up to this time, ms. */
  readonly toMs: number;
  /** The sums by contract. */
  sums(): TapeSums;
  columns(): TapeColumns;
  prints(): Print[];
}

/**
 * How many parts a stretch may have at most. Reading one part print by print takes some milliseconds. Sums are stored for blocks of these
 * sizes and for whole days.
 */
export const PARTS = { one: 1, few: 4, many: 16, ofDay: Number.POSITIVE_INFINITY } as const;

export interface TapeVersion {
  /** Number of prints, including those that were corrected or cancelled later. */
  readonly count: number;
  /** The same text as long as the tape does not change. */
  readonly version: string;
}

/** Every print of an underlying in a period. */
export interface PrintsQuery extends TapeVersion {
  /** Read while the caller iterates. */
  readonly prints: Iterable<Print>;
  /** The same prints as stretches, read while the caller iterates: from a moment on, or all. Not set if the prints are in memory. */
  readonly stretches?: (mostParts: number, fromMs?: number) => Iterable<Stretch>;
}

/** Large prints of an underlying in a period. */
export interface LargeTape {
  /** The same text as long as these prints do not change. */
  readonly version: string;
  /** In time order, some thousand prints at a time, read while the caller iterates. */
  readonly columns: Iterable<TapeColumns>;
}

/** Yields a tape as stretches. */
export function stretchesOf({ prints, stretches }: PrintsQuery, mostParts: number, fromMs = 0): Iterable<Stretch> {
  return stretches ? stretches(mostParts, fromMs) : stretchesByDay(prints, fromMs);
}

function* stretchesByDay(prints: Iterable<Print>, fromMs: number): Generator<Stretch, void> {
  for (const [day, ofDay] of Map.groupBy(prints, ({ at }) => dayOf(at))) {
    const wanted = ofDay.filter(({ at }) => at >= fromMs);
    if (wanted.length > 0) yield stretchOf(day, wanted);
  }
}

/** A stretch of prints in memory. They must be of one day and in time order. */
export function stretchOf(day: string, prints: Print[], toMs = prints.at(-1)?.at ?? 0): Stretch {
  const columns = () => tapeColumnsOf(prints);
  return { day, toMs, columns, sums: () => sumsOf(columns()), prints: () => prints };
}
