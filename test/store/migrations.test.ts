import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_SCHEMA, MIGRATIONS, migrate } from '../../src/store/migrations.ts';

/** Digests of the migrations without comments and white space. Add the digest of a new migration at the end. Never change the others. */
const DIGESTS: readonly string[] = [
  '34c18de1ed1674b8',
  '70e4b5fa8b68d79b',
  'cb6e95e453a56f0',
  'c20223ce7629f5eb',
  '1b727acca4d64ad0',
  '4dab95d0c6b2a89b',
  'df65429b7d44ed3a',
  'e46200e08a6b5080',
  '9d677b1e50e3a4c8',
];

test('no migration is edited, moved or removed, because databases have run it', () => {
  const digests = MIGRATIONS.map((sql) => Bun.hash(sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ')).toString(16));
  expect(digests, 'add the digest of a new migration to DIGESTS; never edit an old migration').toEqual([...DIGESTS]);
});

test('each migration after the first has a test that upgrades a database of the version before', () => {
  const tests = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(import.meta.dir, file), 'utf8'))
    .join('\n');
  const untested = MIGRATIONS.keys()
    .filter((n) => n > 0 && !tests.includes(`MIGRATIONS.slice(0, ${n})`))
    .map(
      (n) =>
        `migration ${FIRST_SCHEMA + n} has no upgrade test in test/store: see "Add a migration" in CONTRIBUTING.md`,
    );
  expect([...untested]).toEqual([]);
});

test('an SQL error names the migration, and no migration of the same upgrade stays', () => {
  const db = new Database(':memory:', { strict: true });
  expect(() => migrate(db, ['CREATE TABLE a (b INTEGER)', 'CREATE TABLE c (d INTEGER); ALTER TABLE e ADD f'])).toThrow(
    'migration 14 of the database failed: no such table: e',
  );
  expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  expect(db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([]);
});
