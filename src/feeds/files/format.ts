import type { Step, Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import type { JoinedValues } from '../vendors/join-file.ts';
import type { Mapping } from '../vendors/mapping.ts';
import type { FileHead } from './file-head.ts';

/** Number of rows of a JSON table that one step reads. A step takes some milliseconds. */
export const STEP_ROWS = 2_000;
/** The description of a step that reads rows. */
export const READING: Step = { message: 'reading market data' };

/** A file of the drop folder with its whole text. */
export interface MarketFile extends FileFacts {
  /** The text as UTF-8, without a byte-order mark. */
  readonly bytes: Uint8Array;
  readonly head: FileHead;
}

/** Facts about a file, without its content. */
export interface FileFacts {
  /** Path of the file in the drop folder, with forward slashes. `origin` is also the origin of the file's rejections. */
  readonly origin: string;
  /** What the caller states about the file. */
  readonly stated?: Stated | undefined;
}

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
  /** Values of the same contracts from a second file. */
  readonly joined?: JoinedValues | undefined;
  /** True if the mapping is of a folder, whose other files are read without it. */
  readonly isOfFolder?: boolean | undefined;
}

/** A format of market data. Formats are detected from the content, because names can be wrong. */
export interface Format {
  /** Returns whether a file is meant to be in this format. A damaged file of the format counts too. */
  claims(head: FileHead, stated?: Stated): boolean;
  /** Reads the file. Throws a `ClientError` if no market data can be read. */
  read(file: MarketFile): Steps<Delivery[]>;
}

/** Returns the source of the chains that a file contains. */
export function sourceOf(file: Pick<FileFacts, 'origin'>): string {
  return `files:${file.origin}`;
}
