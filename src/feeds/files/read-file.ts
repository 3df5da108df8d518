import { errorCode } from '../../core/errors.ts';
import type { Delivery } from '../../market/feed.ts';
import { ReaderEnded } from '../reader/isolated-reader.ts';
import { contentsOf, type FileReadOptions } from './deliveries.ts';
import { type FileCheckpoints, type Outcome, versionOf } from './file-checkpoints.ts';
import type { GrowingTapes } from './growing-tapes.ts';
import { Content, openWithin } from './opened-file.ts';
import { RejectedRows } from './rejected-rows.ts';
import type { FoundFile, SkippedFile } from './walk.ts';

export interface ReadFileDeps extends Pick<FileReadOptions, 'nowMs' | 'readIsolated'> {
  readonly checkpoints: FileCheckpoints;
  readonly tapes: GrowingTapes;
}

/** A temporary error, such as missing permissions or a lack of file descriptors. It does not show whether the file is valid. */
export interface TemporaryError {
  /** The reason for the error, in words. */
  readonly temporaryError: string;
  /** True if the separate process that read the file ended early. */
  readonly isCrash: boolean;
}

/**
 * Yields the contents of a file of the drop folder `root`, a path without links. Returns the outcome, or a temporary error. Errors without a
 * code are thrown. Returns `undefined` if the file was removed or has changed since the scan that found it. An uncompressed tape may grow, so
 * `undefined` then means that some of the whole lines at the time of the scan are missing.
 */
export async function* readFile(
  root: string,
  found: FoundFile,
  { nowMs, checkpoints, tapes, readIsolated }: ReadFileDeps,
): AsyncGenerator<Delivery, Outcome | TemporaryError | undefined> {
  const { origin } = found;
  const { size } = found.stats;
  const version = versionOf(found.stats);
  let rejectedRows = new RejectedRows();
  let isTape = false;
  let isWhole = true;
  let outcome: Outcome = 'none';
  let reason: string | undefined;
  async function* readTape(content: Content) {
    isTape = true;
    // The code reads a tape up to its length at the time of the scan. Bytes that were appended after the scan belong to a later version.
    const seen = new Content(content.fd, { ...content.facts, size });
    const tape = yield* tapes.read(seen, version, nowMs, (stored) => checkpoints.isLast(origin, stored));
    rejectedRows = tape.rejectedRows;
    isWhole = tape.isWhole;
  }
  try {
    await using file = await openWithin(root, origin);
    if (!file) return undefined;
    const checkStable = async () => versionOf(await file.handle.stat()) === version;
    const reading = { nowMs, readTape, ...(readIsolated && { readIsolated }) };
    for await (const delivery of contentsOf(file.content, reading)) {
      // A file that is not a tape is read completely before its first delivery, so the check notices every write before and meanwhile.
      if (outcome === 'none' && reason === undefined && !isTape && !(await checkStable())) return undefined;
      if (delivery.kind === 'rejection') reason = delivery.reason;
      else outcome = 'data';
      if (delivery.kind === 'prints' && !isTape) rejectedRows.add(delivery);
      yield delivery;
    }
    const isStable = await checkStable();
    if (isTape ? !isWhole : !isStable) return undefined;
    // The last row of a tape that is still growing is likely to be incomplete. So the rejected rows of a growing tape are not reported yet.
    const summary = isTape && !isStable ? undefined : rejectedRows.summary();
    if (summary !== undefined) yield rejectionOf({ origin, reason: summary });
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isCrash = error instanceof ReaderEnded;
    return { temporaryError: isCrash ? error.message : `cannot be read (${code})`, isCrash };
  }
  return outcome === 'data' || reason === undefined ? outcome : { rejection: reason };
}

/** Returns the rejection of a file. The origin of the rejection is the path of the file in the drop folder. */
export function rejectionOf({ origin, reason }: SkippedFile): Delivery {
  return { kind: 'rejection', origin, reason };
}
