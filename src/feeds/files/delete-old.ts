import { lstat, unlink } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { DAY_MS } from '../../market/calendar.ts';
import { type FileCheckpoints, versionOf } from './file-checkpoints.ts';
import { openFolder } from './set-aside.ts';
import type { FoundFile } from './walk.ts';

/**
 * Deletes the files of a drop folder that were read completely, had market data, and were last changed more than `days` days before the
 * newest file. The newest file is the clock, so that a wrong clock of this machine deletes nothing. Keeps links, rejected files, files that
 * have changed since the scan, and files that this user may not delete. The promise never rejects.
 *
 * @param root the drop folder's path without links.
 */
export async function deleteOld(
  root: string,
  files: readonly FoundFile[],
  checkpoints: FileCheckpoints,
  days: number,
): Promise<void> {
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
    } catch {
      // The file stays. The file was read, so nothing is lost.
    }
  }
}
