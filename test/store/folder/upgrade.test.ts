import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { saveAuditIn } from '../../../src/store/audit-table.ts';
import { copyChecked, makeBackup } from '../../../src/store/folder/backup.ts';
import { compactDatabase, copyBeforeUpgrade, SCHEMA, undoUpgrade, upgrade } from '../../../src/store/folder/upgrade.ts';
import { FIRST_SCHEMA, MIGRATIONS, migrate, schemaOf } from '../../../src/store/migrations.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { INVENTED_MIGRATION } from '../../support/invented-migration.ts';
import { withFolder } from '../../support/process.ts';
import { closeWith } from '../samples.ts';

/** Creates a database of the newest schema with one close. */
function create(path: string): void {
  const store = openStore(path, Date.now);
  store.saveCloses([closeWith({ ticker: 'SPY', date: '2026-08-21', close: 500 })]);
  store.close();
}

const withCreated = (work: (path: string) => void) =>
  withFolder((folder) => {
    create(`${folder}/z.sqlite`);
    work(`${folder}/z.sqlite`);
  });

function withDatabase<T>(path: string, work: (db: Database) => T): T {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    return work(db);
  } finally {
    db.close(true);
  }
}

const schemaAt = (path: string) => withDatabase(path, schemaOf);

describe('a database of the schema before', () => {
  const upgradeNow = (path: string, migration = INVENTED_MIGRATION) =>
    withDatabase(path, (db) => upgrade(db, path, [...MIGRATIONS, migration]));

  test('is upgraded after a copy, and an earlier program refuses it', () =>
    withCreated((path) => {
      expect([upgradeNow(path), upgradeNow(path)]).toEqual([SCHEMA, undefined]);
      const copy = copyBeforeUpgrade(path, SCHEMA);
      expect([schemaAt(path), schemaAt(copy), statSync(copy).mode & 0o777]).toEqual([SCHEMA + 1, SCHEMA, 0o600]);
      const marks = withDatabase(path, (db) => db.query('SELECT * FROM marks').all());
      expect(marks).toEqual([{ ticker: 'SPY', date: '2026-08-21', mark: 500 }]);
      for (const mode of ['own', 'write', 'read'] as const) {
        expect(() => openStore(path, Date.now, mode)).toThrow(`has schema ${SCHEMA + 1}, but this program supports`);
      }
    }));

  test('stays as it was if the migration fails', () =>
    withCreated((path) => {
      expect(() => upgradeNow(path, `${INVENTED_MIGRATION} DROP TABLE missing;`)).toThrow('no such table: missing');
      const store = openStore(path, Date.now);
      expect(store.officialCloses('SPY', '2026-08-01', '2026-08-31', false)).toHaveLength(1);
      store.close();
      expect(withDatabase(path, (db) => db.query("SELECT * FROM sqlite_schema WHERE name = 'marks'").all())).toEqual(
        [],
      );
    }));

  test('is back after the upgrade is undone, and what it replaced is kept', () =>
    withCreated((path) => {
      upgradeNow(path);
      const undone = undoUpgrade(path);
      expect(undone).toEqual({ schema: SCHEMA, kept: copyBeforeUpgrade(path, SCHEMA + 1) });
      expect([schemaAt(path), schemaAt(undone.kept)]).toEqual([SCHEMA, SCHEMA + 1]);
      expect(existsSync(`${path}-wal`)).toBe(false);
      // The upgrade can be made again.
      upgradeNow(path);
      expect(schemaAt(path)).toBe(SCHEMA + 1);
    }));
});

test('without an upgrade there is nothing to undo', () =>
  withCreated((path) => {
    // A copy that an earlier version made before the first schema is of no use to this program.
    create(copyBeforeUpgrade(path, FIRST_SCHEMA - 1));
    expect(() => undoUpgrade(path)).toThrow('no copy');
    expect(schemaAt(path)).toBe(SCHEMA);
  }));

test.each(Array.from({ length: FIRST_SCHEMA - 1 }, (_, i) => i + 1))(
  'a database of schema %d is refused, and stays as it was',
  (schema) =>
    withFolder(async (folder) => {
      const path = `${folder}/z.sqlite`;
      withDatabase(path, (db) => db.run(`CREATE TABLE closes (close REAL); PRAGMA user_version = ${schema}`));
      const before = readFileSync(path);
      const none = { client: null, account: null, detail: null };
      const entry = { ...none, atMs: 1, actor: 'a', action: 'restored', result: 'done' };
      const works: (() => unknown)[] = [
        ...(['own', 'write', 'read'] as const).map((mode) => () => openStore(path, Date.now, mode)),
        () => withDatabase(path, (db) => upgrade(db, path)),
        () => withDatabase(path, (db) => migrate(db)),
        () => undoUpgrade(path),
        () => saveAuditIn(path, entry),
      ];
      const refusal = `the database has schema ${schema}, but this program reads databases from version 0.2.0`;
      for (const work of works) expect(work).toThrow(refusal);
      await expect(makeBackup(path, `${folder}/backup`, { version: '1', nowMs: 0, copy: copyChecked })).rejects.toThrow(
        refusal,
      );
      expect([readFileSync(path).equals(before), readdirSync(folder)]).toEqual([true, ['z.sqlite']]);
    }),
);

test('a database that another process has open, such as Litestream, is not replaced, and no copy of it remains', () =>
  withCreated((path) => {
    const closes = (db: Database) => db.query('SELECT close FROM closes').all();
    withDatabase(path, (other) => {
      expect(closes(other)).toEqual([{ close: 500 }]);
      const { ino } = statSync(path);
      expect(() => compactDatabase(path)).toThrow('database is locked');
      expect([statSync(path).ino, existsSync(`${path}.compact`)]).toEqual([ino, false]);
      other.run("UPDATE closes SET close = 501 WHERE ticker = 'SPY'");
    });
    compactDatabase(path);
    expect(withDatabase(path, closes)).toEqual([{ close: 501 }]);
  }));
