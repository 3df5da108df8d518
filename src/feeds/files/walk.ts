import { Stats } from 'node:fs';
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

/** What a folder holds. Files in what could not be looked at are not known to be gone. */
export interface Walked {
  readonly files: readonly Found[];
  readonly problems: readonly Problem[];
  /** Whether every folder could be looked at, and no file was left out. */
  readonly complete: boolean;
}

/**
 * All regular files of a folder and its sub-folders in order of their paths, links followed, each folder once and `except` never.
 * Names that begin with a dot are passed over: editors and copying programs keep unfinished files there. Never throws: what cannot
 * be looked at is a problem.
 */
export async function walk(dir: string, except?: string): Promise<Walked> {
  const files: Found[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  let complete = true;
  const barred = except === undefined ? undefined : await stat(except).catch(() => undefined);
  if (barred) seen.add(identityOf(barred));
  await descend('');
  return { files, problems, complete };

  async function descend(folder: string): Promise<void> {
    const path = join(dir, folder);
    try {
      const identity = identityOf(await stat(path));
      if (seen.has(identity)) {
        problems.push({ origin: folder, reason: 'a link to a folder that is looked at already' });
        return;
      }
      seen.add(identity);
      const entries = (await readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (let at = 0; at < entries.length; at += STATS_AT_ONCE) {
        const some = entries.slice(at, at + STATS_AT_ONCE);
        const stats = await Promise.all(
          some.map(({ name }) => stat(join(path, name)).catch((error: unknown) => error)),
        );
        for (const [each, entry] of some.entries()) {
          const origin = folder === '' ? entry.name : `${folder}/${entry.name}`;
          await visit(origin, entry.isSymbolicLink(), stats[each]);
        }
      }
    } catch (error) {
      complete = false;
      problems.push({ origin: folder === '' ? dir : folder, reason: `folder cannot be read (${codeOf(error)})` });
    }
  }

  /** @param stats or why there are none. */
  async function visit(origin: string, isLink: boolean, stats: unknown): Promise<void> {
    if (!(stats instanceof Stats)) {
      // A file that was there a moment ago has been renamed; a link leads nowhere for good.
      if (!isLink && codeOf(stats) === 'ENOENT') return;
      complete = false;
      problems.push({ origin, reason: `cannot be read (${codeOf(stats)})` });
    } else if (stats.isDirectory()) await descend(origin);
    else if (stats.isFile() && files.length < FILES_MAX) files.push({ origin, stats });
    else if (stats.isFile()) {
      if (complete)
        problems.push({ origin, reason: `beyond the ${FILES_MAX} files that are looked at, as are all after it` });
      complete = false;
    }
  }
}

/** Each is looked at on every poll, 10,000 of them in some 30 ms. */
const FILES_MAX = 50_000;
/** One after another they would wait for each other's way to a thread and back; on a network, for its. */
const STATS_AT_ONCE = 64;

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
