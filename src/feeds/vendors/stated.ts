import type { Mapping, SideField } from './mapping.ts';

/** What a person states about files that do not say it themselves. Only plain values, because another process may read the file. */
export interface Stated {
  /** Time of the quotes, ms since the epoch. */
  readonly asOf?: number | undefined;
  /** The zone of times without a zone, for example `America/New_York`. */
  readonly zone?: string | undefined;
  /** The time of day of dates without a time, `HH:MM` in New York. */
  readonly close?: string | undefined;
  /** How to read the tables of the files. */
  readonly mapping?: Mapping | undefined;
  /** Values of the same contracts from second files with the same fields. Of several, each chain takes the one whose day fits. */
  readonly joined?: readonly JoinedValues[] | undefined;
  /** True if the mapping is of a folder, whose other files are read without it. */
  readonly isOfFolder?: boolean | undefined;
}

/** Further values of contracts from a second file. Only plain values, because another process may read the first file. */
export interface JoinedValues {
  /** The name of the second file. */
  readonly file: string;
  readonly fields: readonly SideField[];
  /** The texts of the fields by `joinKey`, with the date of the row, and without a date if the second file has none. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The dates of the rows, as they are in the keys: the empty text if the second file has none. */
  readonly days: ReadonlySet<string>;
  /** The sums of open interest. */
  readonly interests: readonly InterestSum[];
  /** Number of contracts of which the file has rows with different values. The first row counts. */
  readonly contradicting: number;
}

/** The open interest of a series in the rows of a date. */
export interface InterestSum {
  readonly root: string;
  readonly expiry: string;
  readonly date: string;
  sum: number;
}
