import type { Step, Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Stated } from '../vendors/stated.ts';
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
  /** If the text was made from another one: returns the first cell of the other one that could not be read, with its row, if known. */
  readonly badCell?: () => string | undefined;
}

/** Facts about a file, without its content. */
export interface FileFacts {
  /** Path of the file in the drop folder, with forward slashes. `origin` is also the origin of the file's rejections. */
  readonly origin: string;
  /** Absolute path of the file, if it is known. */
  readonly path?: string | undefined;
  /** When the file is read, ms since the epoch; by default now. */
  readonly readAtMs?: number | undefined;
  /** What the caller states about the file. */
  readonly stated?: Stated | undefined;
}

/** A format of market data. Formats are detected from the content, because names can be wrong. */
export interface Format {
  /** Returns whether a file is meant to be in this format. A damaged file of the format counts too. */
  claims(head: FileHead, stated?: Stated): boolean;
  /** Reads the file. Throws a `ClientError` if no market data can be read. */
  read(file: MarketFile): Steps<Delivery[]>;
}

/** Says that a file with the name of market data has none. */
export const NO_MARKET_DATA = 'contains no market data of a known format';

/** Returns whether a file without market data is reported: its name is that of data, and it is not empty. Others may be notes or pictures. */
export function isUnknownData(origin: string, size: number): boolean {
  return size > 0 && /\.(?:csv|json|jsonl|tsv|parquet)(?:\.gz)?$/i.test(origin);
}

/** Returns the source of the chains that a file contains. */
export function sourceOf(file: Pick<FileFacts, 'origin'>): string {
  return `files:${file.origin}`;
}
