import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { errorCode, OperatorError } from '../core/errors.ts';
import { SCHEMA } from './folder/upgrade.ts';
import { schemaOf } from './migrations.ts';
import type { MirrorPlace } from './mirror.ts';
import { openToRead } from './read-only.ts';

/** The name of the mirror in the data folder. It can be removed while no server runs: the next one fills it again. */
export const MIRROR = 'mirror.sqlite';

export const COPY_ANEW_HINT =
  'Remove the file while no server runs on the folder, and start the server, which copies the data again.';

/**
 * Throws `OperatorError` if a mirror is damaged, has another schema, or, unless `mayLack`, does not have all rows yet. A command that is no
 * server repairs no mirror, because a server may use it.
 */
export function requireFitMirror(path: string, { mayLack }: { readonly mayLack: boolean }): void {
  let db: Database | undefined;
  try {
    db = openToRead(path);
    const schema = schemaOf(db);
    // A server that has just made the file has not filled it.
    if (schema !== SCHEMA && schema !== 0)
      throw new OperatorError(
        `${path} has schema ${schema}, and this program needs schema ${SCHEMA}`,
        'Start the server of the same version as this program, which copies the data again.',
      );
    if (!mayLack && !isWhole(db))
      throw new OperatorError(`${path} does not have all data yet`, 'Wait until the server on the folder is ready.');
  } catch (error) {
    if (!/^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error) ?? '')) throw error;
    throw new OperatorError(`${path} is damaged`, COPY_ANEW_HINT, { cause: error });
  } finally {
    db?.close(true);
  }
}

/** Moves the write-ahead log of a mirror into its file, so that freed pages leave the disk. Waits a little for readers in other processes. */
export function checkpointMirror(path: string): void {
  const db = new Database(path, { readwrite: true, strict: true });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close(true);
  }
}

/** Returns the place of a mirror in the log. Undefined if there is no mirror that can be read, or if it has no place yet. */
export function placeOfMirror(path: string): MirrorPlace | undefined {
  if (!existsSync(path)) return undefined;
  let db: Database | undefined;
  try {
    db = openToRead(path);
    const row = db.query('SELECT cluster, place FROM mirror_place WHERE copied IS NULL').get();
    return row === null ? undefined : { ...(row as Pick<MirrorPlace, 'cluster' | 'place'>), copied: null };
  } catch {
    return undefined;
  } finally {
    db?.close(true);
  }
}

function isWhole(db: Database): boolean {
  const query = "SELECT 1 FROM sqlite_schema WHERE name = 'mirror_place'";
  if (db.query(query).get() === null) return false;
  return db.query('SELECT 1 FROM mirror_place WHERE copied IS NULL').get() !== null;
}
