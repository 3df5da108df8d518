import type { Delivery } from '../../market/feed.ts';
import type { InPieces } from '../in-pieces.ts';

/** A file of the drop folder, read whole. */
export interface MarketFile extends FileFacts {
  readonly text: string;
}

/** What is known of a file beside what it holds. */
export interface FileFacts {
  /** Path inside the drop folder, with forward slashes. */
  readonly origin: string;
  /** When the file last changed, ms since the epoch. */
  readonly modifiedMs: number;
}

/** One way of writing market data down. Told apart by content: names lie. */
export interface Format {
  /** Whether the content means to be this format, be it whole or damaged. */
  claims(text: string): boolean;
  /** What it holds. Throws a Failure where nothing can be taken from it. */
  read(file: MarketFile): InPieces<Delivery[]>;
}

export function sourceOf(file: Pick<FileFacts, 'origin'>): string {
  return `files:${file.origin}`;
}
