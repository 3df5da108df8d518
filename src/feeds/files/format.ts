import type { Delivery } from '../../market/feed.ts';
import type { InPieces } from '../in-pieces.ts';

/** A file of the drop folder with its whole text. */
export interface MarketFile extends FileFacts {
  readonly text: string;
}

/** Facts about a file, without its content. */
export interface FileFacts {
  /** Path inside the drop folder, with forward slashes. */
  readonly origin: string;
  /** When the file last changed, ms since the epoch. */
  readonly modifiedMs: number;
}

/** A format of market data. Formats are detected from the content, because names can be wrong. */
export interface Format {
  /** Whether the content is meant to be in this format, even if it is damaged. */
  claims(text: string): boolean;
  /** Reads the file. Throws a `ClientError` if nothing can be read from it. */
  read(file: MarketFile): InPieces<Delivery[]>;
}

export function sourceOf(file: Pick<FileFacts, 'origin'>): string {
  return `files:${file.origin}`;
}
