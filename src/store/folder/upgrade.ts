import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import {
  FIRST_SCHEMA,
  MIGRATIONS,
  migrate,
  newestSchema,
  openAnySchema,
  requireKnown,
  schemaOf,
} from '../migrations.ts';

/** The number of the newest schema. */
export const SCHEMA = newestSchema(MIGRATIONS);

/** Returns the path of the copy that is made before an upgrade from the given schema. */
export function copyBeforeUpgrade(path: string, schema: number): string {
  return `${path}.schema-${schema}`;
}

/**
 * Upgrades a database in one transaction, after a copy to `copyBeforeUpgrade` for `undoUpgrade`. Returns the previous schema, or undefined.
 * Throws `OperatorError` if the schema is unknown or a migration fails. The database is then unchanged.
 */
export function upgrade(db: Database, path: string, migrations: readonly string[] = MIGRATIONS): number | undefined {
  const before = schemaOf(db);
  const newest = newestSchema(migrations);
  requireKnown(before, newest);
  if (before === newest) return undefined;
  if (before > 0) copyDurably(db, copyBeforeUpgrade(path, before));
  migrate(db, migrations);
  return before;
}

/**
 * Replaces the database, which stays in the folder, by the newest copy of an upgrade. The caller holds the lock, and no other process has
 * the database open. Throws `OperatorError` if no copy has an earlier schema from `FIRST_SCHEMA` on.
 */
export function undoUpgrade(path: string): { readonly schema: number; readonly kept: string } {
  const db = openAnySchema(path);
  const now = schemaOf(db);
  const earlier = Array.from({ length: Math.max(0, now - FIRST_SCHEMA) }, (_, i) => now - 1 - i);
  const schema = earlier.find((each) => existsSync(copyBeforeUpgrade(path, each)));
  if (schema === undefined) {
    db.close();
    throw new OperatorError(
      `there is no copy of ${path} from before an upgrade from schema ${FIRST_SCHEMA} or later`,
      'An upgrade makes the copy. Restore a backup with `zomma restore` instead.',
    );
  }
  // Moves the write-ahead log into the database file. If the log stayed, SQLite would apply the log to the file that replaces the database.
  db.run('PRAGMA journal_mode = DELETE');
  db.close(true);
  const kept = copyBeforeUpgrade(path, now);
  rmSync(kept, { force: true });
  linkSync(path, kept);
  // Replaces the file in one step. Even if the process is killed, the path has either the old or the new database.
  renameSync(copyBeforeUpgrade(path, schema), path);
  syncPath(dirname(path));
  return { schema, kept };
}

/**
 * Rewrites a database without free space. The caller holds the lock. Throws an error of SQLite if another process has the database open, for
 * example Litestream. If killed, the old or the new file is there.
 */
export function compactDatabase(path: string): void {
  const db = new Database(path, { readwrite: true, strict: true });
  const draft = `${path}.compact`;
  try {
    // Database files of earlier versions do not have auto_vacuum. With auto_vacuum, later removals return their space to the disk.
    db.run('PRAGMA auto_vacuum = INCREMENTAL');
    // Moves the write-ahead log into the database file. If the log stayed, SQLite would apply the log to the file that replaces the database.
    // Nobody may write until then, because the new file would lack it.
    db.run('PRAGMA locking_mode = EXCLUSIVE');
    db.run('PRAGMA journal_mode = DELETE');
    copyDurably(db, draft);
  } finally {
    db.close(true);
  }
  renameSync(draft, path);
  syncPath(dirname(path));
}

/** Copies a database to a file with mode 0600, and replaces an earlier copy. The file appears in one step, when it is complete. */
export function copyDurably(db: Database, to: string): void {
  const draft = `${to}.partial`;
  rmSync(draft, { force: true });
  db.run('VACUUM INTO ?', [draft]);
  chmodSync(draft, 0o600);
  syncPath(draft);
  renameSync(draft, to);
  syncPath(dirname(to));
}

/** Syncs the contents of a file, or the names in a folder, to the disk. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
