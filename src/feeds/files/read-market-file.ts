import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { newYorkDate, newYorkInstant } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { marketJson } from '../vendors/vendor-json.ts';
import { unknownTable, usualChains, vendorChains } from '../vendors/vendor-tables.ts';
import { chainCsv } from './chain-rows.ts';
import { closesCsv, dividendsCsv } from './daily-rows.ts';
import { FileHead } from './file-head.ts';
import { STATE_THE_TIME } from './file-time.ts';
import { type FileFacts, type Format, READING } from './format.ts';
import { isUnmarkedUtf16, utf8Of } from './lines.ts';
import { quoteTable } from './quote-table.ts';

/**
 * Reads a whole file that is not a tape. Detects the format from the content. Returns chains, closes, dividends, or a rejection with the
 * reason. Returns an empty list for files without market data, such as notes and pictures.
 */
export function* readMarketFile(bytes: Uint8Array, file: FileFacts): Steps<Delivery[]> {
  if (isUnmarkedUtf16(bytes)) {
    const reason = 'the file is UTF-16 without its byte-order mark. Save it as UTF-8';
    return [{ kind: 'rejection', origin: file.origin, reason }];
  }
  const head = headOf(bytes);
  const format = head && FORMATS.find(({ claims }) => claims(head));
  if (!format) return [];
  try {
    yield READING;
    return (yield* format.read({ ...file, bytes: head.bytes, head })).map((each) => withPlausibleTime(each, file));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [{ kind: 'rejection', origin: file.origin, reason: error.message }];
  }
}

const FORMATS: readonly Format[] = [
  ...[marketJson, quoteTable, vendorChains, chainCsv, closesCsv, dividendsCsv, usualChains, unknownTable],
];

/** The largest share of a chain's contracts that may have settled before the day of its quotes. Vendors keep some settled contracts. */
const SETTLED_SHARE_MAX = 0.1;
/** A chain with fewer settled contracts may be a small part of a chain. */
const SETTLED_MIN = 5;

/** Returns a delivery, or a rejection if it is a chain whose time is wrong: more than a tenth of its contracts had settled before that day. */
function withPlausibleTime(delivery: Delivery, { origin }: FileFacts): Delivery {
  if (delivery.kind !== 'chain') return delivery;
  const { underlying, series, count, asOf } = delivery.chain;
  const day = newYorkDate(asOf);
  const from = newYorkInstant(day, '00:00');
  const settled = series.reduce((sum, { settlesAt, start, end }) => sum + (settlesAt < from ? end - start : 0), 0);
  if (settled < SETTLED_MIN || settled <= SETTLED_SHARE_MAX * count) return delivery;
  const share = `${settled} of ${count} contracts had settled before ${day}, the day of its quotes`;
  return { kind: 'rejection', origin, reason: `${underlying}: ${share}. ${STATE_THE_TIME}`, ticker: underlying };
}

/** Returns the head of a text, or `undefined` for binary data. `bytes` are the text or its start. */
export function headOf(bytes: Uint8Array): FileHead | undefined {
  const text = utf8Of(bytes);
  return text && new FileHead(text);
}
