import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { boundedLines, HEADER_CHARS_MAX, PREAMBLE_LINES_MAX } from './cells.ts';
import { chainCsv } from './chain-csv.ts';
import { closesCsv } from './daily-rows.ts';
import { delayedQuotes } from './delayed-quotes.ts';
import { dividendsCsv } from './dividends-csv.ts';
import { type Format, type MarketFile, READING } from './format.ts';
import { decoderOf, isUnmarkedUtf16, withPlainBreaks } from './lines.ts';
import { quoteTable } from './quote-table.ts';

/**
 * Reads a whole file that is not a tape. Detects the format from the content. Returns chains, closes, dividends, or a rejection with the
 * reason. Returns an empty list for files without market data, such as notes and pictures.
 */
export function* readMarketFile(bytes: Uint8Array, file: Omit<MarketFile, 'text'>): Steps<Delivery[]> {
  if (isUnmarkedUtf16(bytes)) {
    const reason = 'the file is UTF-16 without its byte-order mark. Save it as UTF-8';
    return [{ kind: 'rejection', origin: file.origin, reason }];
  }
  const text = decoderOf(bytes)?.decode(bytes);
  // Only the first lines determine the format, so a long file without market data is not searched to its end.
  const head = text && withPlainBreaks(text.slice(0, HEAD_CHARS));
  const format = head && FORMATS.find(({ claims }) => claims(head));
  if (!text || !format) return [];
  try {
    yield READING;
    return yield* format.read({ ...file, text: format === delayedQuotes ? text : boundedLines(text) });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [{ kind: 'rejection', origin: file.origin, reason: error.message }];
  }
}

/** Number of characters at the start of a file in which a header is searched. */
const HEAD_CHARS = PREAMBLE_LINES_MAX * HEADER_CHARS_MAX;

const FORMATS: readonly Format[] = [delayedQuotes, quoteTable, chainCsv, closesCsv, dividendsCsv];

/** Returns the bytes of a file as text with the line break `\n`, or `undefined` for binary data. */
export function decode(bytes: Uint8Array): string | undefined {
  const text = decoderOf(bytes)?.decode(bytes);
  return text && withPlainBreaks(text);
}
