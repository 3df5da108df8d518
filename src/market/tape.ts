import type { Print } from './prints.ts';
import { dayOf, type TapeColumns, tapeColumnsOf } from './tape-columns.ts';
import { sumsOf, type TapeSums } from './tape-sums.ts';

/** Consecutive prints of one New York day, in time order and without canceled prints. */
export interface Stretch {
  readonly day: string;
  /** The end of the stretch, ms since the epoch. The stretch has all prints from its beginning up to this moment. */
  readonly toMs: number;
  /** Returns the sums of the prints by contract. */
  sums(): TapeSums;
  columns(): TapeColumns;
  prints(): Print[];
}

/**
 * Limits on the parts of a stretch. Reading one part print by print takes some milliseconds. So the store also has the sums of blocks of
 * `few` and of `many` parts, and of whole days.
 */
export const PARTS = { one: 1, few: 4, many: 16, ofDay: Number.POSITIVE_INFINITY } as const;

/** The length and the version of a tape in a period. */
export interface TapeVersion {
  /** The number of prints, including those that were corrected or canceled later. */
  readonly count: number;
  /** A text that stays the same as long as the tape does not change. */
  readonly version: string;
}

/** Every print of an underlying in a period. */
export interface PrintsQuery extends TapeVersion {
  /** The prints, which are read from the store while the caller iterates. */
  readonly prints: Iterable<Print>;
  /**
   * Returns the same prints as stretches. With `fromMs`, returns only the prints from this moment on. The prints are read from the store
   * while the caller iterates. Not set if the prints are in memory.
   */
  readonly stretches?: (mostParts: number, fromMs?: number) => Iterable<Stretch>;
}

/** Large prints of an underlying in a period. */
export interface LargeTape {
  /** A text that stays the same as long as these prints do not change. */
  readonly version: string;
  /** The prints in time order, in columns of some thousand prints. The prints are read from the store while the caller iterates. */
  readonly columns: Iterable<TapeColumns>;
}

/** Yields a tape as stretches, from the moment `fromMs` on. */
export function stretchesOf({ prints, stretches }: PrintsQuery, mostParts: number, fromMs = 0): Iterable<Stretch> {
  return stretches ? stretches(mostParts, fromMs) : stretchesByDay(prints, fromMs);
}

function* stretchesByDay(prints: Iterable<Print>, fromMs: number): Generator<Stretch, void> {
  for (const [day, ofDay] of Map.groupBy(prints, ({ at }) => dayOf(at))) {
    const wanted = ofDay.filter(({ at }) => at >= fromMs);
    if (wanted.length > 0) yield stretchOf(day, wanted);
  }
}

/** Returns a stretch of prints that are in memory. The prints must be of one day and in time order. */
export function stretchOf(day: string, prints: Print[], toMs = prints.at(-1)?.at ?? 0): Stretch {
  const columns = () => tapeColumnsOf(prints);
  return { day, toMs, columns, sums: () => sumsOf(columns()), prints: () => prints };
}
