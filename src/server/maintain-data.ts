import { join } from 'node:path';
import { auditEntryOf } from '../access/audit.ts';
import { OperatorError } from '../core/errors.ts';
import { formatBytes } from '../feeds/disk-space.ts';
import { type RetentionDays, removeOld } from '../feeds/retention.ts';
import { saveAuditIn } from '../store/audit-table.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { compactDatabase, copyBeforeUpgrade, SCHEMA, undoUpgrade } from '../store/folder/upgrade.ts';
import { checkpointMirror } from '../store/mirror-file.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { type DataPlace, databaseIn, diskUse, lockData, openData, requireData, withStore } from './stored-data.ts';

/** Upgrades the database of a data folder on which no server runs. Throws `OperatorError` if a server runs, or if there is no data. */
export function upgradeData(dataDir: string): { from: number; to: number; copy: string } {
  requireData(dataDir);
  using _lock = lockData(dataDir);
  let from = SCHEMA;
  openData(dataDir, 'own', {
    onUpgrade(schema) {
      from = schema;
    },
  }).close();
  return { from, to: SCHEMA, copy: copyBeforeUpgrade(join(dataDir, DATABASE), from) };
}

/** Restores the database from before the last upgrade. Throws `OperatorError` if a server runs, or if there is no copy. */
export function undoDataUpgrade(dataDir: string): { schema: number; kept: string } {
  requireData(dataDir);
  using _lock = lockData(dataDir);
  const path = join(dataDir, DATABASE);
  const undone = undoUpgrade(path);
  // The audit entry is also written to the replaced database, which is kept.
  const entry = auditEntryOf({ action: 'upgrade_undone', detail: `back to schema ${undone.schema}` }, Date.now());
  for (const each of [path, undone.kept]) saveAuditIn(each, entry);
  return undone;
}

interface Compacted {
  readonly removed: Awaited<ReturnType<typeof removeOld>>;
  /** The sizes of the database, or of the copy of the database that servers share, before and after the removal, bytes. */
  readonly before: number;
  readonly after: number;
}

/**
 * Removes data older than its retention from a folder, and frees its disk space. Throws `OperatorError` if a server runs, or if the disk has
 * too little space for a copy. In a database that servers share, removes the data for all of them, and shrinks the copy of this machine.
 */
export async function compactData(place: DataPlace, kept: RetentionDays): Promise<Compacted> {
  const { dataDir } = place;
  const file = databaseIn(place);
  const bytes = () => diskUse(dataDir, file).database + diskUse(dataDir, file).wal;
  const remove = (store: SharedStore) => removeOld({ store, kept, observe: () => {}, nowMs: Date.now });
  requireData(dataDir, file);
  const before = bytes();
  if (place.store !== 'sqlite') {
    const removed = await withStore(place, 'write', async (store) => {
      const counts = await remove(store);
      // A copy is never written anew, because its rows would lose their ids.
      while (store.returnFreePages());
      return counts;
    });
    checkpointMirror(join(dataDir, file));
    return { removed, before, after: bytes() };
  }
  using _lock = lockData(dataDir);
  const { free } = diskUse(dataDir);
  if (free < before) {
    throw new OperatorError(
      `the disk has ${formatBytes(free)} free, and the new copy of the database takes up to ${formatBytes(before)}`,
      'Make room on the disk of the data folder, or back up to another disk and restore from there.',
    );
  }
  const removed = await withStore(place, 'write', remove);
  compactDatabase(join(dataDir, file));
  return { removed, before, after: bytes() };
}
