import { Database } from 'bun:sqlite';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy, OperatorError } from '../../core/errors.ts';

/** The name of the lock file in the data folder. */
const LOCK_FILE = 'lock';

export interface FolderLock {
  /** Releases the lock, so that another process can serve the data folder. A second call does nothing. */
  release(): void;
}

/**
 * Locks a folder for one process by SQLite's lock on a small database, which the kernel releases with the process. Readers need no lock.
 * Throws `OperatorError` with the id of the other process if the folder is locked: by default, the folder is a server's data folder.
 */
export function lockFolder(
  folder: string,
  use = 'serves the data folder',
  hint = 'A data folder has one server. Stop that process first, or give --data-dir another folder.',
): FolderLock {
  const path = join(folder, LOCK_FILE);
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  try {
    chmodSync(path, 0o600);
    begin(db);
    db.run('CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL)');
    db.run('DELETE FROM holder');
    db.run('INSERT INTO holder VALUES (?)', [process.pid]);
    // The process id is committed, so that other processes can read it. Then the process takes the lock again and holds it.
    db.run('COMMIT');
    begin(db);
  } catch (error) {
    const holder = isBusy(error) ? holderOf(db) : undefined;
    db.close();
    if (!isBusy(error)) throw error;
    throw new OperatorError(`process ${holder ?? 'unknown'} ${use} ${folder}`, hint);
  }
  return { release: () => db.close(true) };
}

/** Returns the id of the process that serves a data folder, `unknown` if it is not written yet, undefined if there is none. */
export function lockHolder(dataDir: string): number | 'unknown' | undefined {
  const path = join(dataDir, LOCK_FILE);
  if (!existsSync(path)) return undefined;
  const db = new Database(path, { readwrite: true, strict: true });
  try {
    begin(db);
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return holderOf(db) ?? 'unknown';
  } finally {
    db.close();
  }
}

function begin(db: Database): void {
  db.run('BEGIN IMMEDIATE');
}

/** Returns the id of the process that holds the lock. Returns undefined if the process has not written its id yet. */
function holderOf(db: Database): number | undefined {
  try {
    return db.query<{ pid: number }, []>('SELECT pid FROM holder').get()?.pid;
  } catch {
    return undefined;
  }
}
