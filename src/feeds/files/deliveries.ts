import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../errors.ts';
import type { Delivery } from '../../market/feed.ts';
import { inTurns } from '../in-pieces.ts';
import { unreadable } from '../refused.ts';
import { inflated, isGzip } from './gzip.ts';
import { isParquet, readParquet } from './parquet.ts';
import { claimsPrints, readPrints } from './prints-csv.ts';
import { decode, readMarketFile } from './read-market-file.ts';
import type { Found } from './walk.ts';

/** Five times the largest chain the exchange serves; all of a file is held in memory while it is read, but for tapes. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Enough for the first lines, by which a tape is known. */
const HEAD_BYTES = 64 * 1024;
/** Some hundred rows, which are read in two or three milliseconds: requests have their turn between two pieces. */
const PIECE_BYTES = 64 * 1024;

export interface Reading {
  readonly nowMs: number;
  /** Hears of the bytes read so far. */
  readonly reached?: (bytes: number) => void;
  /** Reads a plain tape otherwise than from its first byte to its last. */
  readonly readTape?: (path: string, file: Found) => AsyncIterable<Delivery>;
}

/**
 * What a file of a folder holds, Parquet or text, plain or packed with gzip: a tape of prints batch by batch, whatever its size,
 * anything else once all of it has been read. Throws what the file system throws.
 */
export async function* deliveriesOf(dir: string, file: Found, reading: Reading): AsyncGenerator<Delivery, void> {
  try {
    yield* read(join(dir, file.origin), file, reading);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield { kind: 'refusal', origin: file.origin, reason: error.message };
  }
}

async function* read(path: string, file: Found, reading: Reading): AsyncGenerator<Delivery, void> {
  const { origin, stats } = file;
  const { nowMs, reached = () => {}, readTape } = reading;
  const start = await headOf(path);
  if (isParquet(start)) return yield* readParquet(path, file, nowMs);
  const isPacked = isGzip(start);
  const pieces = () =>
    isPacked
      ? inflated(path, stats.size, reached)
      : counted(createReadStream(path, { highWaterMark: PIECE_BYTES }), reached);
  const head = isPacked ? await together(pieces(), HEAD_BYTES) : start;
  const text = decode(head);
  if (text !== undefined && claimsPrints(text)) {
    yield* readTape && !isPacked ? readTape(path, file) : readPrints(pieces(), nowMs);
  } else if (isPacked || stats.size <= FILE_BYTES_MAX) {
    const bytes = isPacked ? await together(pieces(), FILE_BYTES_MAX + 1) : await readFile(path);
    reached(stats.size);
    if (bytes.length > FILE_BYTES_MAX) throw unreadable(`unpacked more than the ${FILE_BYTES_MAX} bytes that are read`);
    const facts = { origin, modifiedMs: Math.floor(stats.mtimeMs) };
    yield* await inTurns('reading a file', readMarketFile(bytes, facts));
  } else throw unreadable(`${stats.size} bytes, more than the ${FILE_BYTES_MAX} that are read`);
}

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES));
  return buffer.subarray(0, bytesRead);
}

/** The first bytes, so many of them at most. */
async function together(pieces: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const some: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    some.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(some).subarray(0, bytesMax);
}

async function* counted(pieces: AsyncIterable<Buffer>, reached: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    reached(bytes);
    yield piece;
  }
}
