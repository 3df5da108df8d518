import { Database } from 'bun:sqlite';
import { errorCode } from '../core/errors.ts';

/** Returns whether an error of SQLite says that its file is damaged. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error) ?? '');
}

/** Returns the error of reading one row of each table of a database over a new connection, or undefined. */
export function errorOfReading(path: string): unknown {
  let db: Database | undefined;
  try {
    db = new Database(path, { readwrite: true });
    const tables = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
    for (const { name } of tables) db.query(`SELECT * FROM "${name}" LIMIT 1`).get();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    db?.close(true);
  }
}
