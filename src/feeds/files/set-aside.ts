import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, mkdir, open, realpath, unlink } from 'node:fs/promises';
import { dirname, join, parse, sep } from 'node:path';
import { versionOf } from './file-checkpoints.ts';
import { pathOf } from './opened-file.ts';
import type { FoundFile } from './walk.ts';

/** Names that are tried for one file. */
const NUMBER_MAX = 1_000;

/**
 * Moves a rejected file from the drop folder to the same path in another folder. The result says in words what happened. Never overwrites a
 * file there: if the name is taken, the file gets a number. The file stays if it has changed since the scan, or if its folder lies outside
 * the drop folder. A link stays too, because it would lead nowhere from another place. Never throws: the result says if the file cannot be
 * moved.
 *
 * @param root the drop folder's path without links.
 */
export async function setAside(root: string, { origin, stats }: FoundFile, to: string): Promise<SetAside> {
  const stays = (told: string) => ({ isMoved: false, told });
  try {
    await using folder = await openFolder(root, dirname(origin));
    if (folder === undefined) return stays('the file lies outside the drop folder and is not set aside');
    const path = join(folder.path, parse(origin).base);
    const there = await lstat(path);
    if (there.isSymbolicLink()) return stays('a link is not set aside');
    const isSame = async (name: string) => {
      const { dev, ino } = await lstat(name);
      return dev === stats.dev && ino === stats.ino;
    };
    const changed = 'the file has changed meanwhile and is not set aside';
    if (!(await isSame(path))) return stays(changed);
    const name = await copyTo(to, origin, path);
    // Another file may have taken the path, and that file has not been read yet.
    if (versionOf(await lstat(path)) !== versionOf(stats) || !(await isSame(path))) {
      await unlink(join(to, name));
      return stays(changed);
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

/**
 * Opens a folder within the drop folder. Returns `undefined` if the folder lies elsewhere. If the system has `/proc/self/fd`, the returned
 * path names the open folder, so that moved folders or new links cannot redirect it.
 */
async function openFolder(root: string, folder: string): Promise<({ path: string } & AsyncDisposable) | undefined> {
  const path = join(root, folder);
  const handle: FileHandle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const close = () => handle.close();
  try {
    const known = pathOf(handle.fd);
    const real = known ?? (await realpath(path));
    if (real === root || real.startsWith(root + sep)) {
      return { path: known === undefined ? real : `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: close };
    }
  } catch (error) {
    await close();
    throw error;
  }
  await close();
  return undefined;
}

/** Links the file into the other folder, or copies it if links are not possible. Returns its path in that folder. */
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

/** Errors that mean that the folder is on another file system, or on one without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

async function copied(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    // Remove a partial copy, for example on a full disk.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await unlink(to).catch(() => {});
    throw error;
  }
}
