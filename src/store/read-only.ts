import { Database } from 'bun:sqlite';
import { readFileSync, statSync } from 'node:fs';
import { errorCode, OperatorError } from '../core/errors.ts';

/**
 * Maximum wait for a write of another process, or for one that moves its write-ahead log into the file as it closes. Both take milliseconds, so
 * a longer wait means that the process hangs.
 */
export const BUSY_TIMEOUT_MS = 5_000;

/** Maximum size of a database that is read on a disk that cannot be written, bytes. The database is in memory while it is read. */
const COPY_BYTES_MAX = 1e9;

/**
 * Opens a database to read. On a full or read-only disk, SQLite cannot create the shared memory beside the file, so this function reads the
 * file into memory. Throws `OperatorError` if the database is too large for that, or if its write-ahead log has changes.
 */
export function openToRead(path: string): Database {
  let db: Database | undefined;
  try {
    db = new Database(path, { readwrite: true, strict: true });
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.query('SELECT 1 FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db?.close(true);
    if (!/^SQLITE_(?:CANTOPEN|READONLY|FULL|IOERR)/.test(errorCode(error) ?? '')) throw error;
    const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (sizeOf(`${path}-wal`) > 0 || sizeOf(path) > COPY_BYTES_MAX) {
      throw new OperatorError(
        `the disk of ${path} cannot be written, so the database cannot be read there`,
        'Copy the data folder to another disk, and name the copy with --data-dir.',
        { cause: error },
      );
    }
    const bytes = readFileSync(path);
    // The header says that a log belongs to the file (WAL). The copy in memory has none.
    bytes.fill(1, 18, 20);
    return Database.deserialize(bytes, { readonly: true, strict: true });
  }
}
