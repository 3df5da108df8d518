import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, mkdir, open, realpath, unlink } from 'node:fs/promises';
import { dirname, join, parse, sep } from 'node:path';
import { errorCode } from '../../errors.ts';
import { versionOf } from './file-checkpoints.ts';
import { pathOf } from './opened-file.ts';
import type { FoundFile } from './walk.ts';

/** Names that are tried for one file. */
const NUMBER_MAX = 1_000;

/**
 * Moves a rejected file from the drop folder to the same path in another folder. The result says in words what happened. Never overwrites a
 * file there: if the name is in use, the file gets a number. The file stays if it has changed since the scan, or if its folder is outside
 * the drop folder. A link stays too, because it would lead nowhere from another place. Never throws: the result says if the file cannot be
 * moved.
 *
 * @param root the drop folder's path without links.
 */
export async function setAside(root: string, { origin, stats }: FoundFile, to: string): Promise<SetAsideResult> {
  const notMoved = (message: string) => ({ isMoved: false, message });
  try {
    await using folder = await openFolder(root, dirname(origin));
    if (folder === undefined) return notMoved('the file lies outside the drop folder and is not set aside');
    const path = join(folder.path, parse(origin).base);
    if ((await lstat(path)).isSymbolicLink()) return notMoved('a link is not set aside');
    const isSame = async (name: string) => {
      const { dev, ino } = await lstat(name);
      return dev === stats.dev && ino === stats.ino;
    };
    const changed = 'the file has changed meanwhile and is not set aside';
    if (!(await isSame(path))) return notMoved(changed);
    const name = await copyTo(to, origin, path);
    // Another file may have taken the path, and that file has not been read yet.
    if (versionOf(await lstat(path)) !== versionOf(stats) || !(await isSame(path))) {
      await unlink(join(to, name));
      return notMoved(changed);
    }
    await unlink(path);
    return { isMoved: true, message: `set aside as ${name}` };
  } catch (error) {
    return notMoved(`cannot be set aside (${errorCode(error) ?? 'unknown'})`);
  }
}

interface SetAsideResult {
  readonly isMoved: boolean;
  /** What happened, in words. */
  readonly message: string;
}

/**
 * Opens a folder within the drop folder. Returns `undefined` if the folder is elsewhere. If the system has `/proc/self/fd`, the returned
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
    const target = join(dir, number === 1 ? `${name}${ext}` : `${name}-${number}${ext}`);
    try {
      await link(path, join(to, target)).catch((error: unknown) => {
        if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
        return copyNew(path, join(to, target));
      });
      return target;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || number === NUMBER_MAX) throw error;
    }
  }
}

/** Errors that mean that the folder is on another file system, or on one without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Copies a file. Never overwrites a file. */
async function copyNew(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    // Remove a partial copy, for example on a full disk.
    if (errorCode(error) !== 'EEXIST') await unlink(to).catch(() => {});
    throw error;
  }
}
