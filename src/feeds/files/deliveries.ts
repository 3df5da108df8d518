import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../errors.ts';
import type { Delivery } from '../../market/feed.ts';
import { claimsPrints, readPrints } from './prints-csv.ts';
import { decode, readMarketFile } from './read-market-file.ts';
import type { Found } from './walk.ts';

/** Five times the largest chain the exchange serves; all of a file is held in memory while it is read, but for tapes. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Enough for the first lines, by which a tape is known. */
const HEAD_BYTES = 64 * 1024;
/** Some thousand rows. */
const PIECE_BYTES = 256 * 1024;

/**
 * What a file of a folder holds: a tape of prints batch by batch, whatever its size, anything else once all of it has been read.
 * `reached` hears of the bytes read so far. Throws what the file system throws.
 */
export async function* deliveriesOf(
  dir: string,
  { origin, stats }: Found,
  nowMs: number,
  reached: (bytes: number) => void = () => {},
): AsyncGenerator<Delivery, void> {
  const path = join(dir, origin);
  const head = decode(await headOf(path));
  if (head !== undefined && claimsPrints(head)) {
    try {
      yield* readPrints(counted(createReadStream(path, { highWaterMark: PIECE_BYTES }), reached), nowMs);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      yield { kind: 'refusal', origin, reason: error.message };
    }
  } else if (stats.size > FILE_BYTES_MAX) {
    yield { kind: 'refusal', origin, reason: `${stats.size} bytes, more than the ${FILE_BYTES_MAX} that are read` };
  } else {
    const bytes = await readFile(path);
    reached(bytes.length);
    yield* readMarketFile(bytes, { origin, modifiedMs: Math.floor(stats.mtimeMs) });
  }
}

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES));
  return buffer.subarray(0, bytesRead);
}

async function* counted(pieces: AsyncIterable<Buffer>, reached: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    reached(bytes);
    yield piece;
  }
}
