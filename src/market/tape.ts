import type { Print } from './prints.ts';
import { dayOf, type TapeColumns, tapeColumnsOf } from './tape-columns.ts';
import { sumsOf, type TapeSums } from './tape-sums.ts';

/** A run of consecutive prints of one New York day in time order, without canceled prints. */
export interface Stretch {
  readonly day: string;
  /** The end of the run, ms since the epoch. All prints from the beginning of the run up to this moment belong to the run. */
  readonly toMs: number;
  /** Returns the sums of the prints for each contract. */
  sums(): TapeSums;
  columns(): TapeColumns;
  prints(): Print[];
}

/** Maximum parts of a `Stretch`. A part takes a few ms print by print, so the store has sums of blocks of `few` and `many`, and of days. */
export const PARTS = { one: 1, few: 4, many: 16, ofDay: Number.POSITIVE_INFINITY } as const;

/** The length and the version of a tape within a period. */
export interface TapeVersion {
  /** The number of prints, including prints that were corrected or canceled later. */
  readonly count: number;
  /** A text that stays the same while the tape does not change. */
  readonly version: string;
}

/** All prints of an underlying in a period. */
export interface PrintsQuery extends TapeVersion {
  /** The prints, which are read from the store while the caller iterates. */
  readonly prints: Iterable<Print>;
  /** Returns the same prints as stretches, from `fromMs` on, read while the caller iterates. Undefined if the prints are in memory. */
  readonly stretches?: (mostParts: number, fromMs?: number) => Iterable<Stretch>;
}

/** The large prints of an underlying in a period. */
export interface LargeTape {
  /** A text that stays the same while the large prints do not change. */
  readonly version: string;
  /** The prints in time order, in columns of a few thousand prints. The prints are read from the store while the caller iterates. */
  readonly columns: Iterable<TapeColumns>;
}

/** Yields the prints of a tape as stretches, from the moment `fromMs` on. */
export function stretchesOf({ prints, stretches }: PrintsQuery, mostParts: number, fromMs = 0): Iterable<Stretch> {
  return stretches ? stretches(mostParts, fromMs) : stretchesByDay(prints, fromMs);
}

function* stretchesByDay(prints: Iterable<Print>, fromMs: number): Generator<Stretch, void> {
  for (const [day, ofDay] of Map.groupBy(prints, ({ at }) => dayOf(at))) {
    const wanted = ofDay.filter(({ at }) => at >= fromMs);
    if (wanted.length > 0) yield stretchOf(day, wanted);
  }
}

/** Returns a stretch from prints in memory. The prints must be of one day and in time order. */
export function stretchOf(day: string, prints: Print[], toMs = prints.at(-1)?.at ?? 0): Stretch {
  const columns = () => tapeColumnsOf(prints);
  return { day, toMs, columns, sums: () => sumsOf(columns()), prints: () => prints };
}
