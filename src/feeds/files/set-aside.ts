import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, mkdir, open, realpath, unlink } from 'node:fs/promises';
import { dirname, join, parse, sep } from 'node:path';
import { errorCode } from '../../core/errors.ts';
import { DAY_MS } from '../../market/calendar.ts';
import { type FileCheckpoints, versionOf } from './file-checkpoints.ts';
import { pathOf } from './opened-file.ts';
import type { FoundFile } from './walk.ts';

/** Maximum number of names to try for one file. */
const NUMBER_MAX = 1_000;

/**
 * Moves a rejected file from the drop folder (`root`, without links) to the same path in the folder `to`, with a number if the name exists.
 * Moves no link, which may not work elsewhere, no file that has changed since the scan, and none outside the drop folder. Never rejects.
 */
export async function setAside(root: string, { origin, stats }: FoundFile, to: string) {
  const notMoved = (message: string) => ({ isMoved: false, message });
  try {
    await using folder = await openFolder(root, dirname(origin));
    if (folder === undefined) return notMoved('the file is outside the drop folder and is not set aside');
    const path = join(folder.path, parse(origin).base);
    if ((await lstat(path)).isSymbolicLink()) return notMoved('a link is not set aside');
    const isSame = async (name: string) => {
      const { dev, ino } = await lstat(name);
      return dev === stats.dev && ino === stats.ino;
    };
    const changed = 'the file has changed meanwhile and is not set aside';
    if (!(await isSame(path))) return notMoved(changed);
    const name = await copyTo(to, origin, path);
    // Another file, which has not been read, may now be at the path.
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

/** Opens a folder within the drop folder, if it is. With `/proc/self/fd`, the path leads to it even if it is moved meanwhile. */
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

/** Links the file into the folder `to`, or copies it if hard links are not possible. Returns the path of the new file. */
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

/** The error codes for a folder on another file system or on a file system without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Copies a file. Throws an error with the code EEXIST if there is a file at the path `to`. */
async function copyNew(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    // The code removes an incomplete copy. For example, a full disk can cause an incomplete copy.
    if (errorCode(error) !== 'EEXIST') await unlink(to).catch(() => {});
    throw error;
  }
}

/**
 * Deletes the files of the drop folder `root` that were read completely, had market data, and were last changed more than `days` days before
 * the newest file. A wrong clock causes no deletion. Keeps links, rejected files, and files that have changed since the scan. Returns the
 * number of files that cannot be deleted, and the code of the last error. Never rejects.
 */
export async function deleteOld(
  root: string,
  files: readonly FoundFile[],
  checkpoints: FileCheckpoints,
  days: number,
): Promise<{ readonly count: number; readonly reason: string }> {
  let [count, reason] = [0, ''];
  const newestMs = Math.max(...files.map(({ stats }) => stats.mtimeMs));
  for (const { origin, stats } of files) {
    const isOld = newestMs - stats.mtimeMs > days * DAY_MS;
    const isRead = checkpoints.has(origin, stats) && checkpoints.hadData(origin);
    if (!isOld || !isRead || checkpoints.rejection(origin) !== undefined) continue;
    try {
      await using folder = await openFolder(root, dirname(origin));
      if (folder === undefined) continue;
      const path = join(folder.path, parse(origin).base);
      const present = await lstat(path);
      if (!present.isSymbolicLink() && versionOf(present) === versionOf(stats)) await unlink(path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      // The file stays in the drop folder. No data is lost, because the file was already read.
      count++;
      reason = errorCode(error) ?? 'unknown';
    }
  }
  return { count, reason };
}
