import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { checkBackup, DamagedBackup, DRAFT, MANIFEST, type Manifest, readManifest } from './backup.ts';

/** The names that `backupName` gives. A backup with another name was made by a person, and is never removed. */
const SERIES_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/** Returns the name of a backup that begins at this moment, ms since the epoch. Names are in the order of the moments. */
export function backupName(ms: number): string {
  return new Date(ms).toISOString().replace(/[:.]/g, '-');
}

/** Removes what an interrupted process has left in a folder of backups. */
export function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const isDraft = name.endsWith(DRAFT) && SERIES_NAME.test(name.split('.', 1)[0]!);
    if (isDraft) removeBackup(join(folder, name));
  }
}

/** Removes all but the newest `count` backups of the series in a folder, and never `made`. Yields the path of each removed backup. */
export function* removeOldBackups(folder: string, count: number, made: string): Generator<string, void> {
  const series = readdirSync(folder).filter((name) => SERIES_NAME.test(name));
  for (const name of series.toSorted().slice(0, -count)) {
    const old = join(folder, name);
    // If the clock was set back, the newest backup has an early name.
    if (old === made) continue;
    removeBackup(old);
    yield old;
  }
}

/** Removes a folder so that no moment shows a part of it under the name of a backup, even if this process is killed. */
function removeBackup(path: string): void {
  const removed = `${path.replace(/(\.removed)?\.partial$/, '')}.removed${DRAFT}`;
  if (removed !== path) {
    rmSync(removed, { recursive: true, force: true });
    renameSync(path, removed);
  }
  rmSync(removed, { recursive: true, force: true });
}

/** Returns the paths of the backups in a folder, the newest first. A backup without a readable manifest is first, because it may be the newest. */
function backupsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.endsWith(DRAFT) && existsSync(join(folder, name, MANIFEST)))
    .map((name) => ({ path: join(folder, name), madeAt: madeAtIn(join(folder, name)) }))
    .toSorted((a, b) => (b.madeAt > a.madeAt ? 1 : -1))
    .map(({ path }) => path);
}

function madeAtIn(path: string): number {
  try {
    return Date.parse(readManifest(path).made_at) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** A backup that was chosen and checked. */
export interface CheckedBackup {
  readonly path: string;
  readonly manifest: Manifest;
}

export interface ChoiceOptions {
  readonly secret?: Uint8Array | undefined;
  /** Called with each newer backup that is not whole. Without it, such a backup is an error. */
  readonly onSkipped?: ((reason: DamagedBackup) => void) | undefined;
}

/** Checks the backup `from`, or the newest whole one in the folder `from`. Throws `OperatorError` if there is none. */
export async function chooseBackup(from: string, { secret, onSkipped }: ChoiceOptions): Promise<CheckedBackup> {
  const isFolderOfBackups = existsSync(from) && !existsSync(join(from, MANIFEST));
  const candidates = isFolderOfBackups ? backupsIn(from) : [];
  if (candidates.length === 0) return { path: from, manifest: await checkBackup(from, secret) };
  for (const path of candidates) {
    try {
      return { path, manifest: await checkBackup(path, secret) };
    } catch (error) {
      // Only damage is a reason to restore older data. A backup of a newer version or of another server needs a decision of the operator.
      if (!(error instanceof DamagedBackup) || onSkipped === undefined) throw error;
      onSkipped(error);
    }
  }
  throw new OperatorError(
    `no backup in ${from} is whole`,
    'Copy the backups again, and check them with `zomma backup verify`.',
  );
}
