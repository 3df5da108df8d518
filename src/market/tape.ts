import type { Print } from './prints.ts';
import { columnsOf, dayOf, type TapeColumns } from './tape-columns.ts';
import { sumsOf, type TapeSums } from './tape-sums.ts';

/** Some of the tape of one New York day, in time order and without what was cancelled. */
export interface Stretch {
  readonly day: string;
  /** Time up to which it tells of all prints, ms. */
  readonly toMs: number;
  /** By contract, added up. */
  sums(): TapeSums;
  columns(): TapeColumns;
  prints(): Print[];
}

/**
 * How many parts a stretch may have at most. One part is gone through print by print in some milliseconds; sums are kept of blocks of so
 * many, and of whole days.
 */
export const PARTS = { one: 1, few: 4, many: 16, ofDay: Number.POSITIVE_INFINITY } as const;

export interface TapeMark {
  /** Prints, those included that were corrected or cancelled later. */
  readonly count: number;
  /** The same text as long as the tape is the same. */
  readonly mark: string;
}

/** Every print of an underlying over some time. */
export interface Tape extends TapeMark {
  /** Read as they are gone through. */
  readonly prints: Iterable<Print>;
  /**
   * The same a stretch at a time, read as it is gone through, from a moment on or all. Without it, the prints are in memory.
   */
  readonly stretches?: (mostParts: number, fromMs?: number) => Iterable<Stretch>;
}

/** Large prints of an underlying over some time. */
export interface LargeTape {
  /** The same text as long as the tape is the same. */
  readonly mark: string;
  /** In time order, some thousand prints at a time, read as they are gone through. */
  readonly columns: Iterable<TapeColumns>;
}

/** A tape a stretch at a time. */
export function stretchesOf({ prints, stretches }: Tape, mostParts: number, fromMs = 0): Iterable<Stretch> {
  return stretches ? stretches(mostParts, fromMs) : stretchesByDay(prints, fromMs);
}

function* stretchesByDay(prints: Iterable<Print>, fromMs: number): Generator<Stretch, void> {
  for (const [day, ofDay] of Map.groupBy(prints, ({ at }) => dayOf(at))) {
    const its = ofDay.filter(({ at }) => at >= fromMs);
    if (its.length > 0) yield stretchOf(day, its);
  }
}

/** Prints of a day, in time order. */
export function stretchOf(day: string, prints: Print[], toMs = prints.at(-1)?.at ?? 0): Stretch {
  const columns = () => columnsOf(prints);
  return { day, toMs, columns, sums: () => sumsOf(columns()), prints: () => prints };
}
