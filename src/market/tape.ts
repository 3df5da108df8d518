import type { Print } from './prints.ts';
import type { TapeColumns } from './tape-columns.ts';
import type { TapeSums } from './tape-sums.ts';

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

/** Numbers of parts in a `Stretch`. One part takes a few milliseconds to read. For more parts, the store has sums. */
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
  /** Returns the same prints, from `fromMs` on, as stretches that are read while the caller iterates. Undefined for prints in memory. */
  readonly stretches?: (mostParts: number, fromMs?: number) => Iterable<Stretch>;
}

/** All prints of an underlying in a period, in the store. */
export type StoredTape = Required<PrintsQuery>;

/** The large prints of an underlying in a period. */
export interface LargeTape {
  /** A text that stays the same while the large prints do not change. */
  readonly version: string;
  /** The prints in time order, in columns of a few thousand prints. The prints are read from the store while the caller iterates. */
  readonly columns: Iterable<TapeColumns>;
}
