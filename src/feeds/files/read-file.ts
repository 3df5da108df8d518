import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delivery } from '../../market/feed.ts';
import { deliveriesOf } from './deliveries.ts';
import { type FileMarks, type Outcome, versionOf } from './file-marks.ts';
import type { GrowingTapes } from './growing-tapes.ts';
import { RowsRefused } from './rows-refused.ts';
import type { Found, Problem } from './walk.ts';

export interface ReadParts {
  readonly nowMs: number;
  readonly marks: FileMarks;
  readonly tapes: GrowingTapes;
}

/**
 * Delivers what a file of the drop folder holds; returns what that is, or undefined while the file is changing. Of a tape that changes
 * the prints that are there are good all the same: it is only appended to.
 */
export async function* readFile(
  dir: string,
  file: Found,
  { nowMs, marks, tapes }: ReadParts,
): AsyncGenerator<Delivery, Outcome | undefined> {
  const { origin, stats } = file;
  const isSettled = async () => versionOf(await stat(join(dir, origin))) === versionOf(stats);
  let refused = new RowsRefused();
  let isTape = false;
  let isWhole = true;
  let outcome: Outcome = 'none';
  let reason: string | undefined;
  async function* readTape(path: string) {
    isTape = true;
    const tape = yield* tapes.read(path, file, nowMs, (version) => marks.isLast(origin, version));
    refused = tape.refused;
    isWhole = tape.isWhole;
  }
  try {
    for await (const delivery of deliveriesOf(dir, file, { nowMs, readTape })) {
      // Looked at after the reading: what was written before it or meanwhile shows here.
      if (outcome === 'none' && reason === undefined && !isTape && !(await isSettled())) return undefined;
      if (delivery.kind === 'refusal') reason = delivery.reason;
      else outcome = 'data';
      if (delivery.kind === 'prints' && !isTape) refused.add(delivery);
      yield delivery;
    }
    if (isTape ? !isWhole : !(await isSettled())) return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // Gone between the walk and the reading: it was renamed into place, or removed.
    if (code === 'ENOENT') return undefined;
    reason = `cannot be read (${code})`;
    yield refusalOf({ origin, reason });
  }
  // A tape that goes on is likely to have been caught within a row.
  const told = isTape && !(await isSettled().catch(() => false)) ? undefined : refused.told();
  if (told !== undefined) yield refusalOf({ origin, reason: told });
  return outcome === 'data' || reason === undefined ? outcome : { refused: reason };
}

export function refusalOf({ origin, reason }: Problem): Delivery {
  return { kind: 'refusal', origin, reason };
}
