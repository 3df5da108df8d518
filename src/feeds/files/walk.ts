import { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

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
  readonly complete: boolean;
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
  let complete = true;
  const root = await realpath(dir).catch(() => resolve(dir));
  const barred = except === undefined ? undefined : await stat(except).catch(() => undefined);
  if (barred) seen.add(identityOf(barred));
  await descend('');
  return { root, files, problems, complete };

  async function descend(folder: string): Promise<void> {
    const path = join(dir, folder);
    try {
      // The folder itself may be a link. A sub-folder must not have become a link since its parent was read.
      const identity = identityOf(await (folder === '' ? stat : lstat)(path));
      if (seen.has(identity)) {
        problems.push({ origin: folder, reason: LOOKED_AT });
        return;
      }
      seen.add(identity);
      const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (let at = 0; at < entries.length; at += STATS_AT_ONCE) {
        const some = entries.slice(at, at + STATS_AT_ONCE);
        const stats = await Promise.all(
          some.map(({ name }) => lstat(join(path, name)).catch((error: unknown) => error)),
        );
        for (const [each, entry] of some.entries()) {
          const origin = folder === '' ? entry.name : `${folder}/${entry.name}`;
          await visit(origin, stats[each]);
        }
      }
    } catch (error) {
      complete = false;
      problems.push({ origin: folder === '' ? dir : folder, reason: `folder cannot be read (${codeOf(error)})` });
    }
  }

  /** @param stats the file's `Stats`, or the error that prevented reading them. */
  async function visit(origin: string, stats: unknown): Promise<void> {
    if (!(stats instanceof Stats)) {
      // The file existed a moment ago and has been renamed.
      if (codeOf(stats) === 'ENOENT') return;
      complete = false;
      problems.push({ origin, reason: `cannot be read (${codeOf(stats)})` });
    } else if (stats.isSymbolicLink()) await follow(origin);
    else if (stats.isDirectory()) await descend(origin);
    else if (stats.isFile() && files.length < FILES_MAX) files.push({ origin, stats });
    else if (stats.isFile()) {
      if (complete)
        problems.push({ origin, reason: `beyond the limit of ${FILES_MAX} files: not read, nor are any after it` });
      complete = false;
    }
  }

  async function follow(origin: string): Promise<void> {
    const target = await realpath(join(dir, origin)).catch((error: unknown) => error);
    if (typeof target !== 'string') {
      // A broken link hides no file.
      if (codeOf(target) !== 'ENOENT') complete = false;
      problems.push({ origin, reason: `cannot be read (${codeOf(target)})` });
    } else if (target !== root && !target.startsWith(root + sep)) {
      problems.push({ origin, reason: 'a link that leads out of the folder: it is not followed' });
    } else {
      const stats = await lstat(target).catch((error: unknown) => error);
      if (stats instanceof Stats && stats.isDirectory()) problems.push({ origin, reason: LOOKED_AT });
      else if (!(stats instanceof Stats && stats.isSymbolicLink())) await visit(origin, stats);
    }
  }
}

const LOOKED_AT = 'a link to a folder that is already scanned';

/** Every poll checks each file. 10,000 files take some 30 ms. */
const FILES_MAX = 50_000;
/** If the calls ran one by one, each would wait for a thread, or for the network. */
const STATS_AT_ONCE = 64;

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
