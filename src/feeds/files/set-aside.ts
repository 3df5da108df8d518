import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, unlink } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { versionOf } from './file-marks.ts';
import type { Found } from './walk.ts';

/** Names tried for one file. */
const NUMBER_MAX = 1_000;

/**
 * Moves a bad file out of the drop folder to the same path in another, and tells in words what became of it. Nothing there is ever
 * overwritten: a name that is taken gets a number. A file that has changed since it was looked at stays, as does a link, which would
 * lead nowhere from another place. Never throws: where it cannot be moved, that is told.
 */
export async function setAside(dir: string, { origin, stats }: Found, to: string): Promise<SetAside> {
  const path = join(dir, origin);
  const stays = (told: string) => ({ isMoved: false, told });
  try {
    if ((await lstat(path)).isSymbolicLink()) return stays('a link is not set aside');
    const name = await copyTo(to, origin, path);
    // Another may have come in its place, which is yet to be read.
    if (versionOf(await lstat(path)) !== versionOf(stats)) {
      await unlink(join(to, name));
      return stays('it has changed meanwhile and is not set aside');
    }
    await unlink(path);
    return { isMoved: true, told: `set aside as ${name}` };
  } catch (error) {
    return stays(`cannot be set aside (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

interface SetAside {
  readonly isMoved: boolean;
  readonly told: string;
}

/** Gives the file a second name there, or a copy on another file system; returns its path in that folder. */
async function copyTo(to: string, origin: string, path: string): Promise<string> {
  const { dir, name, ext } = parse(origin);
  await mkdir(join(to, dir), { recursive: true });
  for (let number = 1; ; number++) {
    const free = join(dir, number === 1 ? `${name}${ext}` : `${name}-${number}${ext}`);
    try {
      await link(path, join(to, free)).catch((error: NodeJS.ErrnoException) => {
        if (!NO_LINKS.has(error.code ?? '')) throw error;
        return copied(path, join(to, free));
      });
      return free;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number === NUMBER_MAX) throw error;
    }
  }
}

/** Another file system, or one without second names. */
const NO_LINKS: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function copied(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    // Half a copy, of a full disk, is none.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await unlink(to).catch(() => {});
    throw error;
  }
}
