import type { Delivery } from '../../market/feed.ts';
import { ReaderEnded } from '../reader/read-apart.ts';
import { contentsOf, type Reading } from './deliveries.ts';
import { type FileCheckpoints, type Outcome, versionOf } from './file-checkpoints.ts';
import type { GrowingTapes } from './growing-tapes.ts';
import { Content, openWithin } from './opened-file.ts';
import { RejectedRows } from './rejected-rows.ts';
import type { FoundFile, SkippedFile } from './walk.ts';

export interface ReadFileDeps extends Pick<Reading, 'nowMs' | 'readApart'> {
  readonly marks: FileCheckpoints;
  readonly tapes: GrowingTapes;
}

/**
 * The reading failed with a temporary error, such as missing permissions or a lack of file descriptors. Nothing is known about the file.
 */
export interface Passing {
  readonly passing: string;
  /** Whether the process that read the file has ended. */
  readonly isCrash: boolean;
}

/**
 * Delivers the contents of a file of the drop folder. Returns their outcome, or `undefined` while the file is changing. If a tape is
 * changing, its prints so far are delivered all the same, because a tape is only appended to.
 *
 * @param root the folder's path without links.
 */
export async function* readFile(
  root: string,
  found: FoundFile,
  { nowMs, marks, tapes, readApart }: ReadFileDeps,
): AsyncGenerator<Delivery, Outcome | Passing | undefined> {
  const { origin } = found;
  const { size } = found.stats;
  const version = versionOf(found.stats);
  let refused = new RejectedRows();
  let isTape = false;
  let isWhole = true;
  let outcome: Outcome = 'none';
  let reason: string | undefined;
  async function* readTape(content: Content) {
    isTape = true;
    // Use the length at the time of the scan. Bytes that were appended since belong to another version.
    const seen = new Content(content.fd, { ...content.facts, size });
    const tape = yield* tapes.read(seen, version, nowMs, (stored) => marks.isLast(origin, stored));
    refused = tape.refused;
    isWhole = tape.isWhole;
  }
  try {
    await using file = await openWithin(root, origin);
    if (!file) return undefined;
    const isSettled = async () => versionOf(await file.handle.stat()) === version;
    const reading = { nowMs, readTape, ...(readApart && { readApart }) };
    for await (const delivery of contentsOf(file.content, reading)) {
      // Check after the reading, so that writes before and during the reading are noticed.
      if (outcome === 'none' && reason === undefined && !isTape && !(await isSettled())) return undefined;
      if (delivery.kind === 'refusal') reason = delivery.reason;
      else outcome = 'data';
      if (delivery.kind === 'prints' && !isTape) refused.add(delivery);
      yield delivery;
    }
    const settled = await isSettled();
    if (isTape ? !isWhole : !settled) return undefined;
    // If a tape is still growing, its last row is likely to be incomplete. So its rejected rows are not reported yet.
    const told = isTape && !settled ? undefined : refused.summary();
    if (told !== undefined) yield rejectionOf({ origin, reason: told });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const isCrash = error instanceof ReaderEnded;
    return { passing: isCrash ? error.message : `cannot be read (${code})`, isCrash };
  }
  return outcome === 'data' || reason === undefined ? outcome : { refused: reason };
}

export function rejectionOf({ origin, reason }: SkippedFile): Delivery {
  return { kind: 'refusal', origin, reason };
}
