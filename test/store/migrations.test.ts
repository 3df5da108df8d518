import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';

/** Digests of the migrations without comments and white space. Add the digest of a new migration at the end. Never change the others. */
const DIGESTS: readonly string[] = [
  '42597aafe909effc',
  'f786e35afca22b33',
  '34a4e101abf2b9c0',
  'c1f5c97616e0d173',
  '9bf6b9d8505ea352',
  '568a2523b1183869',
  '38b41b1de030feea',
  '191f621dbdcefbe7',
  '1d4bf9b31e63e706',
  '94b960df387df46f',
  '2d5690ca7efe8349',
  '5ece63b58fbf7fa4',
  '850c466f0ba9d248',
];

/** The first migrations came together with the tables' tests, before there was a database to upgrade. */
const FIRST_TESTED_UPGRADE = 9;

test('no migration is edited, moved or removed, because databases have run it', () => {
  const digests = MIGRATIONS.map((sql) => Bun.hash(sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ')).toString(16));
  expect(digests, 'see "Add a migration" in CONTRIBUTING.md').toEqual([...DIGESTS]);
});

test('each migration has a test that upgrades a database of the version before', () => {
  const tests = readdirSync(import.meta.dir)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(import.meta.dir, file), 'utf8'))
    .join('\n');
  const untested = MIGRATIONS.keys()
    .filter((n) => n >= FIRST_TESTED_UPGRADE && !tests.includes(`MIGRATIONS.slice(0, ${n})`))
    .map((n) => `migration ${n + 1} has no upgrade test in test/store: see "Add a migration" in CONTRIBUTING.md`);
  expect([...untested]).toEqual([]);
});

test('an SQL error names the migration, and no migration of the same upgrade stays', () => {
  const db = new Database(':memory:', { strict: true });
  expect(() => migrate(db, ['CREATE TABLE a (b INTEGER)', 'CREATE TABLE c (d INTEGER); ALTER TABLE e ADD f'])).toThrow(
    'migration 2 of the database failed: no such table: e',
  );
  expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: 0 });
  expect(db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([]);
});
