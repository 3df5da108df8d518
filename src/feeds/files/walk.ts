import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface Found {
  /** Path inside the folder, with forward slashes. */
  readonly origin: string;
  readonly stats: Stats;
}

export interface Problem {
  readonly origin: string;
  readonly reason: string;
}

/**
 * All regular files of a folder and its sub-folders in order of their paths, links followed, each folder once. Names that begin
 * with a dot are passed over: editors and copying programs keep unfinished files there. Never throws: what cannot be looked at is
 * a problem.
 */
export async function walk(dir: string): Promise<{ files: Found[]; problems: Problem[] }> {
  const files: Found[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  await descend('');
  return { files, problems };

  async function descend(folder: string): Promise<void> {
    const path = join(dir, folder);
    try {
      const { dev, ino } = await stat(path);
      const identity = `${dev}:${ino}`;
      if (seen.has(identity)) {
        problems.push({ origin: folder, reason: 'a link to a folder that is looked at already' });
        return;
      }
      seen.add(identity);
      const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries) {
        await visit(folder === '' ? entry.name : `${folder}/${entry.name}`, entry.isSymbolicLink());
      }
    } catch (error) {
      problems.push({ origin: folder === '' ? dir : folder, reason: `folder cannot be read (${codeOf(error)})` });
    }
  }

  async function visit(origin: string, isLink: boolean): Promise<void> {
    let stats: Stats;
    try {
      stats = await stat(join(dir, origin));
    } catch (error) {
      // A file that was there a moment ago has been renamed; a link leads nowhere for good.
      if (isLink || codeOf(error) !== 'ENOENT') problems.push({ origin, reason: `cannot be read (${codeOf(error)})` });
      return;
    }
    if (stats.isDirectory()) await descend(origin);
    else if (stats.isFile() && files.length < FILES_MAX) files.push({ origin, stats });
    else if (stats.isFile()) problems.push({ origin, reason: `beyond the ${FILES_MAX} files that are looked at` });
  }
}

/** Each is looked at on every poll. */
export const FILES_MAX = 10_000;

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
