import { Database } from 'bun:sqlite';
import { describe, expect } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { joinCluster } from '../../src/cluster/join-cluster.ts';
import { visitCluster } from '../../src/cluster/visit-cluster.ts';
import { type MigrationEvents, migrateData } from '../../src/server/migrate-data.ts';
import { MIRROR } from '../../src/store/mirror-file.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { NOW_MS, rowsIn } from '../store/every-write.ts';
import { PASSWORD, postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { PROGRAM, run } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';
import { fileIn, fillFolder, killedMigration, migration, newDatabase, openTables, STORE_ENV } from './migrations.ts';

const at = testFolder();
const server = await postgresForTests();

const startIn = (dataDir: string, ...args: string[]) =>
  run(PROGRAM, ['serve', '--port', '0', '--feed', 'simulated', '--data-dir', dataDir, ...args], undefined, STORE_ENV);

describe('a migration into Postgres and back', () => {
  testWithPostgres(
    'keeps every row, also if it is killed on the way; no server starts before it is complete',
    async () => {
      const from = fillFolder(at('from'));
      const expected = rowsIn(fileIn(from));
      const { url } = await newDatabase(server);
      expect(await killedMigration(from, url, 9)).toEqual(['copying new']);
      expect(await startIn(at('other'), '--store', url)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`the database has a migration of ${from} that is not complete`),
      });
      expect(await killedMigration(from, url, 12)).toEqual(['copying part']);
      expect(await killedMigration(from, url, 'comparing')).toEqual(['copying part', 'comparing new']);
      const up = await migration(from, url, '--json');
      expect(up).toMatchObject({
        code: 0,
        stderr: 'copying the rows, after those of an earlier run\ncomparing the rows\n',
      });
      const report = JSON.parse(up.stdout);
      expect(report).toMatchObject({ state: 'complete', needs_secret: false });
      const counts = report.tables.map(({ table, from: { rows } }: { table: string; from: { rows: number } }) => [
        table,
        rows,
      ]);
      // Sequences are compared as a table, but are no rows in the order of a key.
      expect(Object.fromEntries(counts)).toEqual({ ...countsOf(expected), sqlite_sequence: 5 });
      expect(await migration(from, url)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('is complete already'),
      });

      const withPassword = url.replace('@', `:${encodeURIComponent(PASSWORD)}@`);
      const again = await run(PROGRAM, ['migrate', '--from', from, '--to', withPassword]);
      expect(again).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('--to has a password, which every user'),
      });

      const to = at('to');
      expect(await killedMigration(url, to, 8)).toEqual(['copying new']);
      for (const refused of [startIn(to), run(PROGRAM, ['members', 'list', '--data-dir', to])])
        expect(await refused).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(`${to} has a migration that is not complete`),
        });
      expect(existsSync(fileIn(to))).toBe(false);
      expect(await killedMigration(url, to, 13)).toEqual(['copying part']);
      expect(await killedMigration(url, to, 'comparing')).toEqual(['copying part', 'comparing new']);
      const down = await migration(url, to);
      expect(down).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/both sides are equal\n.*Copy the file "secret"/),
      });
      expect(rowsIn(fileIn(to))).toEqual(expected);
      expect(await migration(url, to)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('is complete already'),
      });
      // A process that was killed before the last step, when all rows are compared.
      renameSync(fileIn(to), `${fileIn(to)}.migration`);
      expect(await migration(url, to)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('is complete already'),
      });
      expect(rowsIn(fileIn(to))).toEqual(expected);
      expect(layoutOf(fileIn(to))).toEqual(layoutOf(fileIn(from)));
      expect(
        readdirSync(to)
          .filter((each) => !/-(?:wal|shm)$/.test(each))
          .toSorted(),
      ).toEqual(['lock', 'migrated-from', 'zomma.sqlite']);
    },
    120_000,
  );

  testWithPostgres(
    'goes on after any of its transactions',
    async () => {
      const from = fillFolder(at('from'));
      const interrupted = async (to: string, origin: string) => {
        for (let runs = 1; ; runs++) {
          let isComparing = false;
          const events: MigrationEvents = {
            onStep(step) {
              isComparing = step === 'comparing';
            },
            onProgress() {
              if (!isComparing) throw new Error('interrupted');
            },
          };
          const done = await migrateData({ from: origin, to, storePassword: PASSWORD }, events).then(
            () => true,
            (error: Error) => {
              expect(error.message).toBe('interrupted');
              return false;
            },
          );
          if (done) return runs;
        }
      };
      const { url } = await newDatabase(server);
      expect(await interrupted(url, from)).toBeGreaterThan(30);
      expect(await interrupted(at('to'), url)).toBeGreaterThan(30);
      expect(rowsIn(fileIn(at('to')))).toEqual(rowsIn(fileIn(from)));
    },
    60_000,
  );

  testWithPostgres(
    'begins again if the data has changed since the earlier run',
    async () => {
      const from = fillFolder(at('from'));
      const { database, url } = await newDatabase(server);
      const change = () => {
        const store = openStore(fileIn(from), () => NOW_MS, 'write');
        store.setCheckpoint('files', 'later', 'value');
        store.close();
      };
      await killedMigration(from, url, 'comparing');
      change();
      expect(await migration(from, url)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('from the beginning, because the data has changed since an earlier run'),
      });
      await killedMigration(url, at('to'), 'comparing');
      await server.query(
        `insert into zomma.appends (place, replica, batch, tables, written, bytes)
      select max(place) + 1, 'r', gen_random_uuid(), '{}', '{"keys":[],"group":"others"}', 0 from zomma.appends`,
        database,
      );
      expect(await killedMigration(url, at('to'), 'comparing')).toEqual(['copying outdated', 'comparing new']);
      expect(await migration(url, at('to'))).toMatchObject({ code: 0 });
      expect(rowsIn(fileIn(at('to')))).toEqual(rowsIn(fileIn(from)));
    },
    60_000,
  );

  testWithPostgres('reaches the mirrors of the database, also one from before', async () => {
    const from = fillFolder(at('from'));
    const { url } = await newDatabase(server);
    await openTables(url);
    const place = (name: string) => ({ dataDir: at(name), store: url, storePassword: PASSWORD });
    const visit = async (name: string) => (await visitCluster(place(name))).close();
    for (const name of ['before', 'later']) mkdirSync(at(name));
    await visit('before');
    expect((await migration(from, url)).code).toBe(0);
    await visit('later');
    // A command does not replace a mirror, and a server does.
    await expect(visit('before')).rejects.toThrow('mirror.sqlite does not fit the database of --store: ');
    const events = { observe() {}, onApplied() {}, onDamaged() {} };
    const cluster = await joinCluster({ ...place('before'), replica: 'before', synchronous: 'off' }, events);
    await cluster.start();
    await cluster.close();
    await visit('before');
    for (const name of ['before', 'later']) expect(rowsIn(at(name, MIRROR))).toEqual(rowsIn(fileIn(from)));
  });

  testWithPostgres('ends if another process moves the mark, without the rows that would be doubled', async () => {
    const from = fillFolder(at('from'));
    const { database, url } = await newDatabase(server);
    await openTables(url);
    await server.query(
      `create function move() returns trigger language plpgsql as $$ begin update zomma.migration set mark = '{}'; return new; end $$;
      create trigger move before insert on zomma.snapshots execute function move()`,
      database,
    );
    expect(await migration(from, url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the database has another mark than this run has set'),
    });
    expect(await server.query('select 1 from zomma.snapshots', database)).toHaveLength(0);
    await server.query('drop trigger move on zomma.snapshots', database);
    expect(await migration(from, url)).toMatchObject({ code: 0 });
  });

  testWithPostgres(
    'is not complete if the rows differ, and begins again',
    async () => {
      const from = fillFolder(at('from'));
      const { database, url } = await newDatabase(server);
      await openTables(url);
      await server.query(
        `create function spoil() returns trigger language plpgsql as 'begin new.close = new.close + 1; return new; end';
      create trigger spoil before insert on zomma.closes for each row when (new.date = '2026-01-05') execute function spoil()`,
        database,
      );
      const spoilt = await migration(from, url);
      expect(spoilt).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the rows differ after the copy in closes'),
      });
      expect(spoilt.stdout.split('\n').filter((line) => line.includes('differs'))).toEqual([
        expect.stringMatching(/^closes .* {2}differs: /),
      ]);
      expect((await startIn(at('other'), '--store', url)).stderr).toContain('that is not complete');
      await server.query('drop trigger spoil on zomma.closes', database);
      expect(await migration(from, url)).toMatchObject({ code: 0 });
    },
    60_000,
  );
});

const countsOf = ({ sequences: _, ...tables }: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.length]));

/** What a database file is like beside its rows. */
function layoutOf(path: string) {
  const db = new Database(path, { readonly: true });
  const pragma = (name: string) => db.query(`PRAGMA ${name}`).values();
  const layout = {
    mode: statSync(path).mode & 0o777,
    schema: db.query('SELECT type, name, sql FROM sqlite_schema ORDER BY name').values(),
    pragmas: ['journal_mode', 'auto_vacuum', 'user_version', 'page_size', 'integrity_check', 'foreign_key_check'].map(
      pragma,
    ),
  };
  db.close();
  return layout;
}
