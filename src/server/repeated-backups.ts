import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { diskProblem, OperatorError } from '../core/errors.ts';
import { backupName, removeDrafts, removeOldBackups } from '../store/folder/backup-series.ts';
import { type FolderLock, lockFolder } from '../store/folder/folder-lock.ts';

export interface RepeatedBackups {
  /** The folder of all backups, which must exist. */
  readonly folder: string;
  readonly everyMs: number;
  /** Number of backups that are kept. */
  readonly keep: number;
  /** Ends the backups, also in the middle of one. */
  readonly signal: AbortSignal;
  /** Makes a backup in a new folder. */
  readonly backUp: (to: string) => Promise<void>;
  readonly onRemoved: (path: string) => void;
  /** Called with the error of a round. The next round is tried all the same. */
  readonly onError: (error: unknown) => void;
  /** Called after a round that took longer than the interval, with its duration and the number of rounds that are left out. */
  readonly onOverrun: (tookMs: number, leftOut: number) => void;
}

/**
 * Makes a backup at each multiple of `everyMs` after the start, until the signal. A round that takes longer than the interval leaves out
 * the rounds that would begin meanwhile. Resolves with whether the last round that ended made a backup.
 */
export async function repeatBackups({
  everyMs,
  signal,
  onError,
  onOverrun,
  ...rest
}: RepeatedBackups): Promise<boolean> {
  const startedAt = performance.now();
  const passedMs = () => performance.now() - startedAt;
  let isMade = true;
  for (let round = 0; ; ) {
    try {
      await makeRound(rest);
      isMade = true;
    } catch (error) {
      if (signal.aborted) return isMade;
      isMade = false;
      onError(error);
    }
    const next = Math.floor(passedMs() / everyMs) + 1;
    if (next > round + 1) onOverrun(passedMs() - round * everyMs, next - round - 1);
    round = next;
    if (await isAbortedWithin(round * everyMs - passedMs(), signal)) return isMade;
  }
}

async function makeRound({
  folder,
  keep,
  backUp,
  onRemoved,
}: Pick<RepeatedBackups, 'folder' | 'keep' | 'backUp' | 'onRemoved'>): Promise<void> {
  // The folder is never created: a missing one is often a disk that is not mounted, and the backups would fill the disk below.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(
      `there is no folder ${folder}`,
      'Create it once. If it is on another disk, mount the disk.',
    );
  }
  const lock = lockSeries(folder);
  try {
    removeDrafts(folder);
    const path = join(folder, backupName(Date.now()));
    await backUp(path);
    for (const old of removeOldBackups(folder, keep, path)) onRemoved(old);
  } finally {
    lock.release();
  }
}

/** Locks a folder of backups, because another process would remove the draft of this one. */
function lockSeries(folder: string): FolderLock {
  try {
    return lockFolder(folder, 'makes a backup in', 'Give each process that makes backups a folder of its own.');
  } catch (error) {
    const problem = diskProblem(error);
    if (problem === undefined) throw error;
    throw new OperatorError(`cannot write to ${folder}: ${problem.reason}`, 'Look at its disk.', { cause: error });
  }
}

/** Maximum time of a timer, ms. A longer one would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Waits for a time, ms, or until the signal. Returns whether the signal is aborted. */
async function isAbortedWithin(ms: number, signal: AbortSignal): Promise<boolean> {
  const untilMs = performance.now() + ms;
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs = untilMs - performance.now()) {
    // The aborted timer ends at once, so that it does not keep the process.
    await setTimeout(Math.min(leftMs, TIMER_MS_MAX), undefined, { signal }).catch(() => {});
  }
  return signal.aborted;
}
