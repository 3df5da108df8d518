import { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorCode } from '../../core/errors.ts';

/** A regular file that was found in a folder. */
export interface FoundFile {
  /** Path of the file in the folder, with forward slashes. */
  readonly origin: string;
  readonly stats: Stats;
}

/** A file or a folder that cannot be read. The origin of the folder itself is its whole path. */
export type SkippedFile = Readonly<{ origin: string; reason: string }>;

export interface FolderContents {
  /** The path of the folder without links. */
  readonly root: string;
  readonly files: readonly FoundFile[];
  readonly problems: readonly SkippedFile[];
  /** True if all folders were readable and no file was left out. If false, a file that is missing from `files` may still exist. */
  readonly isComplete: boolean;
}

/**
 * Finds all regular files of a folder and its sub-folders without `except`, in the order of their paths, and follows links to files within the
 * folder. Other links, and what cannot be read, are reported as problems. Ignores names that begin with a dot, because editors and copy
 * programs use such names for incomplete files. Never rejects.
 */
export async function walk(dir: string, except?: string): Promise<FolderContents> {
  const files: FoundFile[] = [];
  const problems: SkippedFile[] = [];
  const seen = new Set<string>();
  let isComplete = true;
  const root = await realpath(dir).catch(() => resolve(dir));
  const exceptStats = except === undefined ? undefined : await stat(except).catch(() => undefined);
  if (exceptStats) seen.add(identityOf(exceptStats));
  await descend('');
  return { root, files, problems, isComplete };

  async function descend(folder: string): Promise<void> {
    const path = join(dir, folder);
    try {
      // The drop folder itself may be a link. A sub-folder must not be a link, but may have become a link since its parent was read.
      const identity = identityOf(await (folder === '' ? stat : lstat)(path));
      if (seen.has(identity)) {
        problems.push({ origin: folder, reason: ALREADY_SCANNED });
        return;
      }
      seen.add(identity);
      const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (let start = 0; start < entries.length; start += STATS_AT_ONCE) {
        const batch = entries.slice(start, start + STATS_AT_ONCE);
        const statsOf = (name: string) => lstat(join(path, name)).catch((error: unknown) => error);
        const stats = await Promise.all(batch.map(({ name }) => statsOf(name)));
        for (const [i, { name }] of batch.entries()) await visit(folder === '' ? name : `${folder}/${name}`, stats[i]);
      }
    } catch (error) {
      isComplete = false;
      problems.push({ origin: folder === '' ? dir : folder, reason: `folder ${readErrorReason(error)}` });
    }
  }

  /** @param stats the file's `Stats`, or the error that prevented reading them. */
  async function visit(origin: string, stats: unknown): Promise<void> {
    if (!(stats instanceof Stats)) {
      // The file was renamed or removed after its folder was read.
      if (errorCode(stats) === 'ENOENT') return;
      isComplete = false;
      problems.push({ origin, reason: readErrorReason(stats) });
    } else if (stats.isSymbolicLink()) await follow(origin);
    else if (stats.isDirectory()) await descend(origin);
    else if (stats.isFile() && files.length < FILES_MAX) files.push({ origin, stats });
    else if (stats.isFile()) {
      const reason = `this file and all later files are not read, because the limit is ${FILES_MAX} files`;
      if (isComplete) problems.push({ origin, reason });
      isComplete = false;
    }
  }

  /** Visits the target of a link. The target is recorded under the path of the link. */
  async function follow(origin: string): Promise<void> {
    const target = await realpath(join(dir, origin)).catch((error: unknown) => error);
    if (typeof target !== 'string') {
      // A broken link leads to no file, so the list of files is still complete.
      if (errorCode(target) !== 'ENOENT') isComplete = false;
      problems.push({ origin, reason: readErrorReason(target) });
    } else if (target !== root && !target.startsWith(root + sep)) {
      problems.push({ origin, reason: 'the link leads out of the folder and is not followed' });
    } else {
      const stats = await lstat(target).catch((error: unknown) => error);
      if (stats instanceof Stats && stats.isDirectory()) problems.push({ origin, reason: ALREADY_SCANNED });
      else if (!(stats instanceof Stats && stats.isSymbolicLink())) await visit(origin, stats);
    }
  }
}

const ALREADY_SCANNED = 'the path leads to a folder that is already scanned';

/** Maximum number of files. Every poll checks all files, and a check of 10,000 files takes some 30 ms. */
const FILES_MAX = 50_000;
/** Number of `lstat` calls at the same time. A call may wait for a thread or the network. */
const STATS_AT_ONCE = 64;

function readErrorReason(error: unknown): string {
  return `cannot be read (${errorCode(error) ?? 'unknown'})`;
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
