import { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorCode } from '../../errors.ts';

export interface FoundFile {
  /** Path inside the folder, with forward slashes. */
  readonly origin: string;
  readonly stats: Stats;
}

export interface SkippedFile {
  readonly origin: string;
  readonly reason: string;
}

/** The contents of a folder. `root` is its path without links. If a sub-folder cannot be read, its files may still exist. */
export interface FolderContents {
  readonly root: string;
  readonly files: readonly FoundFile[];
  readonly problems: readonly SkippedFile[];
  /** Whether every folder could be read, and no file was left out. */
  readonly isComplete: boolean;
}

/**
 * Finds all regular files of a folder and its sub-folders, in order of their paths. Each folder is read once, and `except` never. Links to
 * files within the folder are followed. A link to a folder, or out of the folder, is a problem. Names that begin with a dot are ignored,
 * because editors and copy programs use them for unfinished files. Never throws: what cannot be read is a problem.
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
      // The folder itself may be a link. A sub-folder must not have become a link since its parent was read.
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
        const stats = await Promise.all(
          batch.map(({ name }) => lstat(join(path, name)).catch((error: unknown) => error)),
        );
        for (const [i, entry] of batch.entries()) {
          const origin = folder === '' ? entry.name : `${folder}/${entry.name}`;
          await visit(origin, stats[i]);
        }
      }
    } catch (error) {
      isComplete = false;
      problems.push({ origin: folder === '' ? dir : folder, reason: `folder ${readErrorReason(error)}` });
    }
  }

  /** @param stats the file's `Stats`, or the error that prevented reading them. */
  async function visit(origin: string, stats: unknown): Promise<void> {
    if (!(stats instanceof Stats)) {
      // The file existed a moment ago and has been renamed.
      if (errorCode(stats) === 'ENOENT') return;
      isComplete = false;
      problems.push({ origin, reason: readErrorReason(stats) });
    } else if (stats.isSymbolicLink()) await follow(origin);
    else if (stats.isDirectory()) await descend(origin);
    else if (stats.isFile() && files.length < FILES_MAX) files.push({ origin, stats });
    else if (stats.isFile()) {
      if (isComplete)
        problems.push({ origin, reason: `beyond the limit of ${FILES_MAX} files: not read, nor are any after it` });
      isComplete = false;
    }
  }

  async function follow(origin: string): Promise<void> {
    const target = await realpath(join(dir, origin)).catch((error: unknown) => error);
    if (typeof target !== 'string') {
      // A broken link hides no file.
      if (errorCode(target) !== 'ENOENT') isComplete = false;
      problems.push({ origin, reason: readErrorReason(target) });
    } else if (target !== root && !target.startsWith(root + sep)) {
      problems.push({ origin, reason: 'a link that leads out of the folder: it is not followed' });
    } else {
      const stats = await lstat(target).catch((error: unknown) => error);
      if (stats instanceof Stats && stats.isDirectory()) problems.push({ origin, reason: ALREADY_SCANNED });
      else if (!(stats instanceof Stats && stats.isSymbolicLink())) await visit(origin, stats);
    }
  }
}

const ALREADY_SCANNED = 'a link to a folder that is already scanned';

/** Every poll checks each file. 10,000 files take some 30 ms. */
const FILES_MAX = 50_000;
/** If the calls ran one by one, each would wait for a thread, or for the network. */
const STATS_AT_ONCE = 64;

function readErrorReason(error: unknown): string {
  return `cannot be read (${errorCode(error) ?? 'unknown'})`;
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
