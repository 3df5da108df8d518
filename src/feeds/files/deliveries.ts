import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError } from '../../core/errors.ts';
import { runInTurns } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { unreadable } from '../rejections.ts';
import { claimsHistory, readChainHistory } from '../vendors/history-tables.ts';
import { secondFilesOf } from '../vendors/second-file.ts';
import type { Stated } from '../vendors/stated.ts';
import { marketJson } from '../vendors/vendor-json.ts';
import { claimsVendorPrints, readVendorPrints } from '../vendors/vendor-prints.ts';
import { whyUnmapped } from '../vendors/vendor-tables.ts';
import type { FileHead } from './file-head.ts';
import { inflated, isGzip } from './gzip.ts';
import { Content, openNamed, openWithin } from './opened-file.ts';
import { isParquet, readParquet } from './parquet.ts';
import { claimsPrints, readPrints } from './prints-csv.ts';
import { headOf, readMarketFile } from './read-market-file.ts';
import type { FoundFile } from './walk.ts';

/** Maximum size of a file that is read as a whole, so neither a tape nor Parquet: twice the size of the largest accepted chain. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Maximum size of a file that this process reads as a whole. Larger files would block its event loop. Most files with chains are smaller. */
const IN_PROCESS_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum size of JSON that this process parses. Parsing takes at most 75 ms, even for JSON that was designed for slow parsing. */
const IN_PROCESS_JSON_BYTES_MAX = 512 * 1024;

/** Size from which a table of chains is read snapshot by snapshot, so that its length does not matter. Most single chains are smaller. */
const HISTORY_BYTES_MIN = 8 * 1024 * 1024;

/** Number of bytes that show whether a file is a tape. */
const HEAD_BYTES = 64 * 1024;

export interface FileReadOptions {
  readonly nowMs: number;
  /** What a person states about the file. */
  readonly stated?: Stated | undefined;
  /** Called with the reason if the mapping of a folder does not fit a plain table, which is then read without it. */
  readonly onUnmapped?: (reason: string) => void;
  /** Called with the number of bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
  /** Reads a plain tape. If omitted, each plain tape is read as a whole. */
  readonly readTape?: (content: Content) => AsyncIterable<Delivery>;
  /** Reads a file that may need much memory (Parquet, packed or large) in another process. If omitted, this process reads all files. */
  readonly readIsolated?: (content: Content) => AsyncIterable<Delivery>;
}

/**
 * Reads the file at the path `origin` in the folder `dir` with the rules of `contentsOf`. Only a file that a person named may be a link that
 * leads out of the folder. Yields nothing if the path is no longer a regular file. Throws errors of the file system.
 */
export async function* deliveriesOf(
  dir: string,
  { origin }: Pick<FoundFile, 'origin'>,
  options: FileReadOptions,
  isNamed = false,
): AsyncGenerator<Delivery, void> {
  const root = await realpath(dir);
  await using file = isNamed ? await openNamed(join(dir, origin), origin) : await openWithin(root, origin);
  if (file) yield* contentsWithin(root, file.content, options);
}

/** Works like `contentsOf`, with the values of a second file in the folder if the file needs one. `root` is a folder without links. */
export async function* contentsWithin(
  root: string,
  content: Content,
  options: FileReadOptions,
): AsyncGenerator<Delivery, void> {
  try {
    const { joined, notice } = await secondFilesOf(root, content, options.stated);
    const read = contentsOf(content, joined ? { ...options, stated: { ...options.stated, joined } } : options);
    for await (const delivery of read) {
      const isWithout = notice !== undefined && delivery.kind === 'chain';
      yield isWithout ? { ...delivery, notes: [...(delivery.notes ?? []), notice] } : delivery;
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    yield { kind: 'rejection', origin: content.facts.origin, reason: error.message };
  }
}

/**
 * Reads an open file: Parquet, text, or gzip-packed text. Yields the prints of a tape in batches, other contents after the whole file has been
 * read, or a rejection if nothing can be read. Throws errors of the file system.
 */
export async function* contentsOf(content: Content, options: FileReadOptions): AsyncGenerator<Delivery, void> {
  try {
    const { facts } = content;
    const { stated = facts.stated } = options;
    yield* readContents(new Content(content.fd, { ...facts, stated }), options);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    yield { kind: 'rejection', origin: content.facts.origin, reason: error.message };
  }
}

async function* readContents(content: Content, options: FileReadOptions): AsyncGenerator<Delivery, void> {
  const { size, ...facts } = content.facts;
  const { nowMs, onProgress = () => {}, readTape, readIsolated } = options;
  const start = await content.slice(0, Math.min(HEAD_BYTES, size));
  const isPacked = isGzip(start);
  if (readIsolated && (isPacked || isParquet(start))) return yield* readIsolated(content);
  if (isParquet(start)) return yield* readParquet(content, nowMs, onProgress);
  const pieces = () => (isPacked ? inflated(content, onProgress) : withProgress(content.pieces(), onProgress));
  const bytes = isPacked ? await firstBytes(pieces(), HEAD_BYTES) : start;
  const head = headOf(bytes);
  const unmapped = head && options.onUnmapped && !isJson(head) ? whyUnmapped(head, facts.stated) : undefined;
  if (unmapped !== undefined) options.onUnmapped!(unmapped);
  const { mapping } = facts.stated ?? {};
  // The reader of Zomma's own tape knows no decimal commas.
  const hasCommas = mapping?.kind === 'prints' && mapping.forms.decimal !== undefined;
  if (head && claimsPrints(head) && !hasCommas)
    return yield* readTape && !isPacked ? readTape(content) : readPrints(pieces(), nowMs, facts.stated);
  if (head && claimsVendorPrints(head, facts.stated)) return yield* readVendorPrints(pieces, facts, nowMs);
  const isHistory = (isPacked || size > HISTORY_BYTES_MIN) && head !== undefined && claimsHistory(head, facts);
  const bytesMax = isHistory ? HISTORY_BYTES_MIN : FILE_BYTES_MAX;
  if (!isHistory && !isPacked && size > bytesMax)
    throw unreadable(`the file has ${size} bytes, more than the limit of ${bytesMax} bytes`);
  if (readIsolated && size > (isJson(head) ? IN_PROCESS_JSON_BYTES_MAX : IN_PROCESS_BYTES_MAX))
    return yield* readIsolated(content);
  const whole = isPacked
    ? await firstBytes(pieces(), bytesMax + 1)
    : await content.slice(0, Math.min(size, bytesMax + 1));
  if (whole.length > bytesMax && isHistory) return yield* readChainHistory(pieces, facts);
  if (whole.length > bytesMax) throw unreadable(`the file has more than ${bytesMax} bytes after unpacking`);
  onProgress(size);
  yield* await runInTurns('reading a file', readMarketFile(whole, { ...facts, readAtMs: nowMs }));
}

function isJson(head: FileHead | undefined): boolean {
  return head !== undefined && marketJson.claims(head);
}

/** Returns the first `bytesMax` bytes of a file, or all bytes of a shorter file. */
async function firstBytes(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    chunks.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

/** Yields the pieces, and reports how many bytes have been read so far. */
async function* withProgress(pieces: AsyncIterable<Buffer>, onProgress: (bytes: number) => void) {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    onProgress(bytes);
    yield piece;
  }
}
