import { Database, type Statement } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { type CopyMark, type CopyOrigin, type CopyTarget, firstMark } from '../copy-rows.ts';
import { type MirroredTable, mirroredSchema, quoted, type StoredCell } from '../mirrored-tables.ts';
import { openStore } from '../sqlite.ts';
import { type RowSequences, sqliteRows } from '../table-rows.ts';
import { DATABASE } from './backup.ts';
import { syncPath } from './upgrade.ts';

/** The name of a database that is being filled. It is renamed when it is complete. */
const DRAFT = `${DATABASE}.migration`;
/** The name of the file that says from where a migration has filled the data folder. */
const RECORD = 'migrated-from';

/** Throws `OperatorError` if a migration into the data folder is not complete. */
export function refuseMigrationDraft(dataDir: string): void {
  const path = join(dataDir, DRAFT);
  if (!existsSync(path)) return;
  throw new OperatorError(
    `${dataDir} has a migration that is not complete`,
    `Run the same \`zomma migrate\` again, which goes on with it, or remove ${path} and the files beside it.`,
  );
}

/** A database that a migration fills. */
export interface MigrationDraft extends CopyTarget, Disposable {
  /** Makes the draft the database of the folder, in one step. */
  complete(): void;
}

type MarkRow = Readonly<Record<'name' | 'identity' | 'version' | 'mark', string>>;

/**
 * Opens the draft in a data folder whose lock the caller holds, or creates it. The caller has called `finishDraft`. A draft of an earlier
 * state of the origin begins again. Throws `OperatorError` if the draft is of another origin.
 */
export function openMigrationDraft(dataDir: string, origin: CopyOrigin): MigrationDraft {
  const path = join(dataDir, DRAFT);
  rmSync(join(dataDir, RECORD), { force: true });
  syncPath(dataDir);
  // Creates the tables, with the options of every database file.
  openStore(path, Date.now).close();
  const db = new Database(path, { readwrite: true, strict: true });
  db.run('PRAGMA busy_timeout = 5000');
  // A reference may come before its row. After a power cut, the draft goes on from an earlier mark.
  db.run('PRAGMA foreign_keys = OFF');
  db.run('PRAGMA synchronous = NORMAL');
  db.run(
    `CREATE TABLE IF NOT EXISTS migration
       (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, identity TEXT NOT NULL, version TEXT NOT NULL, mark TEXT NOT NULL) STRICT`,
  );
  const known = db.query<MarkRow, []>('SELECT name, identity, version, mark FROM migration').get();
  if (known && known.identity !== origin.identity) {
    db.close(true);
    throw new OperatorError(
      `${dataDir} has a migration of ${known.name} that is not complete`,
      `Go on with that one, or remove ${path} and the files beside it.`,
    );
  }
  const putMark = db.prepare<null, string[]>('INSERT OR REPLACE INTO migration VALUES (1, ?, ?, ?, ?)');
  const moveTo = (mark: CopyMark) => putMark.run(origin.name, origin.identity, origin.version, JSON.stringify(mark));
  const clear = db.transaction(() => {
    const emptied = mirroredSchema().tables.map(({ name }) => name);
    // The second time for the rows that a trigger has written meanwhile.
    for (const name of [...emptied, ...emptied]) db.run(`DELETE FROM ${quoted(name)}`);
    db.run('DELETE FROM sqlite_sequence');
    moveTo(firstMark());
  });
  if (known?.version !== origin.version) clear.immediate();
  const inserts = new Map<string, Statement<null, StoredCell[]>>();
  const put = db.transaction(
    ({ name, columns }: MirroredTable, rows: readonly StoredCell[][], next: CopyMark): void => {
      const insert = inserts.getOrInsertComputed(name, () => {
        const names = columns.map((column) => quoted(column.name)).join(', ');
        return db.prepare(`INSERT INTO ${quoted(name)} (${names}) VALUES (${columns.map(() => '?').join(', ')})`);
      });
      for (const row of rows) insert.run(...row);
      moveTo(next);
    },
  );
  const end = db.transaction((sequences: RowSequences, next: CopyMark): void => {
    db.run('DELETE FROM sqlite_sequence');
    for (const [name, last] of sequences) db.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [name, last]);
    moveTo(next);
  });
  return {
    ...sqliteRows(db),
    mark: JSON.parse(db.query<MarkRow, []>('SELECT mark FROM migration').get()!.mark) as CopyMark,
    left: known ? (known.version === origin.version ? 'part' : 'outdated') : undefined,
    put: async (...given) => put.immediate(...given),
    end: async (...given) => end.immediate(...given),
    beginAgain: async () => clear.immediate(),
    complete() {
      db.close(true);
      const record = join(dataDir, RECORD);
      writeFileSync(`${record}.partial`, JSON.stringify(origin), { mode: 0o600 });
      syncPath(`${record}.partial`);
      renameSync(`${record}.partial`, record);
      finishDraft(dataDir);
    },
    [Symbol.dispose]: () => db.close(true),
  };
}

/**
 * Makes a draft the database of the folder if all its rows are there and compared. Returns the origin of the database that a migration has made,
 * or undefined if none has.
 */
export function finishDraft(dataDir: string): CopyOrigin | undefined {
  const [record, path] = [join(dataDir, RECORD), join(dataDir, DRAFT)];
  // The record comes when the rows are compared. Whatever begins another draft removes it.
  if (!existsSync(record)) return undefined;
  if (existsSync(path) && !existsSync(join(dataDir, DATABASE))) {
    const db = new Database(path, { readwrite: true, strict: true });
    db.run('DROP TABLE IF EXISTS migration');
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close(true);
    syncPath(path);
    renameSync(path, join(dataDir, DATABASE));
    syncPath(dataDir);
  }
  return JSON.parse(readFileSync(record, 'utf8')) as CopyOrigin;
}
