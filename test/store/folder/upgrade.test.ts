import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { copyBeforeUpgrade, SCHEMA, undoUpgrade } from '../../../src/store/folder/upgrade.ts';
import { MIGRATIONS, migrate, schemaOf } from '../../../src/store/migrations.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { inFolder } from '../samples.ts';

/** Creates a database of an earlier schema with one close. */
function earlier(path: string, schema: number): void {
  const db = new Database(path, { create: true, readwrite: true });
  db.run('PRAGMA journal_mode = WAL');
  migrate(db, MIGRATIONS.slice(0, schema));
  db.run("INSERT INTO closes (simulated, ticker, date, close) VALUES (0, 'SPY', '2026-08-21', 500)");
  db.close(true);
}

function schemaAt(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return schemaOf(db);
  } finally {
    db.close(true);
  }
}

describe.each(Array.from({ length: SCHEMA - 1 }, (_, i) => i + 1))('a database of schema %d', (schema) => {
  test('is upgraded by its owner alone, after a copy', () =>
    inFolder((folder) => {
      const path = `${folder}/z.sqlite`;
      earlier(path, schema);
      for (const mode of ['read', 'write'] as const) {
        expect(() => openStore(path, Date.now, mode)).toThrow(`has schema ${schema}, and this program needs`);
        expect(schemaAt(path)).toBe(schema);
      }
      const seen: number[] = [];
      const store = openStore(path, Date.now, 'own', { onUpgrade: (from) => seen.push(from) });
      expect(seen).toEqual([schema]);
      expect(store.officialCloses('SPY', '2026-08-01', '2026-08-31', false)).toHaveLength(1);
      store.close();
      const copy = copyBeforeUpgrade(path, schema);
      expect([schemaAt(path), schemaAt(copy), statSync(copy).mode & 0o777]).toEqual([SCHEMA, schema, 0o600]);
    }));

  test('is back after the upgrade is undone, and what it replaced is kept', () =>
    inFolder((folder) => {
      const path = `${folder}/z.sqlite`;
      earlier(path, schema);
      openStore(path, Date.now).close();
      const undone = undoUpgrade(path);
      expect(undone).toEqual({ schema, kept: copyBeforeUpgrade(path, SCHEMA) });
      expect([schemaAt(path), schemaAt(undone.kept)]).toEqual([schema, SCHEMA]);
      expect(existsSync(`${path}-wal`)).toBe(false);
      // The upgrade can be made again.
      openStore(path, Date.now).close();
      expect(schemaAt(path)).toBe(SCHEMA);
    }));
});

test('without an upgrade there is nothing to undo', () =>
  inFolder((folder) => {
    const path = `${folder}/z.sqlite`;
    openStore(path, Date.now).close();
    expect(() => undoUpgrade(path)).toThrow('no copy');
    expect(schemaAt(path)).toBe(SCHEMA);
  }));
