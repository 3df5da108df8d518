import { Database } from 'bun:sqlite';
import { describe, expect } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClusterOrigin } from '../../src/cluster/migration-sides.ts';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { migrateData } from '../../src/server/migrate-data.ts';
import { lockFolder } from '../../src/store/folder/folder-lock.ts';
import { SCHEMA } from '../../src/store/folder/upgrade.ts';
import { MIRROR } from '../../src/store/mirror-file.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { NOW_MS } from '../store/every-write.ts';
import { freePort, PASSWORD, postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { testFolder } from '../support/test-folder.ts';
import { fileIn, fillFolder, killedMigration, migration, newDatabase, openTables, SECRET } from './migrations.ts';

const at = testFolder();
const server = await postgresForTests();

/** A database and a folder that could be migrated into each other, but for one thing. `refuse` makes that thing, and says what the error is. */
interface Refusal {
  readonly way: 'up' | 'down';
  readonly make: (given: { readonly database: string; readonly dataDir: string }) => unknown;
  readonly error: RegExp;
}

const inDatabase =
  (statement: string): Refusal['make'] =>
  ({ database }) =>
    server.query(statement, database);
const SEEN = `insert into zomma.replicas values ('second', 'second x', '1', 1, 0, true, clock_timestamp() - interval '8 s')`;
const LEADS = `insert into zomma.leases values ('lead', 'second x', 1, clock_timestamp() + interval '20 s')`;
const UNFINISHED = `insert into zomma.migration (one, name, identity, version, mark) values (1, '/srv/other', 'other', '', '{}')`;
const APPEND = `insert into zomma.appends (place, replica, batch, tables, written, bytes) values (1, 'r', gen_random_uuid(), '{}', '{}', 0)`;
const ROW = inDatabase(`insert into zomma.feed_marks values ('files', 'a', 'b', 1)`);
const OTHER_SECRET: Refusal['make'] = ({ dataDir }) =>
  writeFileSync(join(dataDir, 'secret'), SECRET.with(0, 1), { mode: 0o600 });
const schemaOf = (schema: number, leastReader = SCHEMA) =>
  inDatabase(`update zomma.cluster set schema = ${schema}, least_reader = ${leastReader}`);

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'a server that was seen': { way: 'up', make: inDatabase(SEEN), error: /the server second uses the database/ },
  'a server that leads': { way: 'up', make: inDatabase(LEADS), error: /the server second leads in the database/ },
  'a row in the database': {
    way: 'up',
    make: ROW,
    error: /the database has data of Zomma already, in its table feed_marks/,
  },
  'a change in the log': {
    way: 'up',
    make: inDatabase(APPEND),
    error: /the database has data of Zomma already, in its table appends/,
  },
  'a row in the database, and another secret': {
    way: 'up',
    async make(given) {
      OTHER_SECRET(given);
      await ROW(given);
    },
    error: /the database has data of Zomma already, in its table feed_marks/,
  },
  'a row in the database, and no secret': {
    way: 'up',
    async make(given) {
      rmSync(join(given.dataDir, 'secret'));
      await ROW(given);
    },
    error: /the database has data of Zomma already, in its table feed_marks/,
  },
  'another secret': { way: 'up', make: OTHER_SECRET, error: /has another secret than/ },
  'no secret, but one in the database': {
    way: 'up',
    make: ({ dataDir }) => rmSync(join(dataDir, 'secret')),
    error: /folder has no secret, and the servers of the database have one/,
  },
  'an unfinished migration of another folder': {
    way: 'up',
    make: inDatabase(UNFINISHED),
    error: /the database has a migration of \/srv\/other that is not complete/,
  },
  'a newer schema': { way: 'up', make: schemaOf(SCHEMA + 1), error: /has schema \d+, and this program needs schema/ },
  'a schema that needs a newer program': {
    way: 'up',
    make: schemaOf(SCHEMA + 2, SCHEMA + 1),
    error: /which programs with a schema from \d+ on can use/,
  },
  'a data folder of an older schema': {
    way: 'up',
    make({ dataDir }) {
      const db = new Database(fileIn(dataDir));
      db.run(`PRAGMA user_version = ${SCHEMA - 1}`);
      db.close(true);
    },
    error: /folder\/zomma\.sqlite has schema \d+, and this program needs schema \d+/,
  },
  'no data in the folder': {
    way: 'up',
    make: ({ dataDir }) => rmSync(fileIn(dataDir)),
    error: /folder has no data of Zomma/,
  },
  'the copy of a database in the folder': {
    way: 'up',
    make: ({ dataDir }) => renameSync(fileIn(dataDir), join(dataDir, MIRROR)),
    error: /folder has only the copy of a database that servers share/,
  },
  'down: a server that was seen': { way: 'down', make: inDatabase(SEEN), error: /the server second uses the database/ },
  'down: a server that leads': {
    way: 'down',
    make: inDatabase(LEADS),
    error: /the server second leads in the database/,
  },
  'down: another secret': { way: 'down', make: OTHER_SECRET, error: /has another secret than/ },
  'down: data in the folder': {
    way: 'down',
    make: ({ dataDir }) => openStore(fileIn(dataDir), Date.now).close(),
    error: /folder has data already/,
  },
  'down: data in the folder, and another secret': {
    way: 'down',
    make(given) {
      OTHER_SECRET(given);
      openStore(fileIn(given.dataDir), Date.now).close();
    },
    error: /folder has data already/,
  },
  'down: the copy of a database in the folder': {
    way: 'down',
    make: ({ dataDir }) => openStore(join(dataDir, MIRROR), Date.now).close(),
    error: /folder has the copy of a database that servers share/,
  },
  'down: an unfinished migration in the database': {
    way: 'down',
    make: inDatabase(UNFINISHED),
    error: /the database has a migration of \/srv\/other that is not complete/,
  },
  'down: an older schema': {
    way: 'down',
    make: schemaOf(SCHEMA - 1),
    error: /has schema \d+, and this program needs schema/,
  },
  'down: a newer schema': {
    way: 'down',
    make: schemaOf(SCHEMA + 1),
    error: /the database has schema \d+, and this program needs schema/,
  },
  'down: no data in the database': {
    way: 'down',
    make: inDatabase('drop schema zomma cascade'),
    error: /the database has no data of Zomma/,
  },
};

describe('a migration is refused in one sentence, and changes nothing, for', () => {
  /** Returns the rows of all tables of a database, without the moments that pass. */
  const dumpOf = async (database: string) => {
    const tables = await server.query(
      `select tablename from pg_tables where schemaname = 'zomma' order by 1`,
      database,
    );
    return Promise.all(
      tables.map(async ({ tablename }) => [tablename, await server.query(`table zomma."${tablename}"`, database)]),
    );
  };
  const filesIn = (dataDir: string) =>
    readdirSync(dataDir)
      .filter((name) => name !== 'lock' && !/-(?:wal|shm)$/.test(name))
      .map((name) => [name, readFileSync(join(dataDir, name), 'base64')]);

  for (const [name, { way, make, error }] of Object.entries(REFUSALS)) {
    testWithPostgres(name, async () => {
      const { database, url } = await newDatabase(server);
      await openTables(url, SECRET);
      const dataDir = at('folder');
      mkdirSync(dataDir, { mode: 0o700 });
      writeFileSync(join(dataDir, 'secret'), SECRET, { mode: 0o600 });
      if (way === 'up') openStore(fileIn(dataDir), Date.now).close();
      await make({ database, dataDir });
      const before = [await dumpOf(database), filesIn(dataDir)];
      const [from, to] = way === 'up' ? [dataDir, url] : [url, dataDir];
      const refused = await migrateData({ from, to, storePassword: PASSWORD }, { onStep() {}, onProgress() {} }).then(
        () => undefined,
        (thrown: OperatorError) => thrown,
      );
      expect(refused).toBeInstanceOf(OperatorError);
      expect(refused!.message).toMatch(error);
      expect(refused!.message).not.toMatch(/[.\n]\s|\.$/);
      expect(refused!.hint).toMatch(/\.$/);
      // The keys of the members in the folder fit its own secret only.
      expect(refused!.hint).not.toMatch(/^Copy/);
      expect([await dumpOf(database), filesIn(dataDir)]).toEqual(before);
    });
  }

  testWithPostgres('a server on the data folder, either way', async () => {
    const { url } = await newDatabase(server);
    const from = fillFolder(at('from'));
    expect((await migration(from, url)).code).toBe(0);
    mkdirSync(at('to'), { mode: 0o700 });
    for (const [dataDir, ...way] of [
      [from, from, url],
      [at('to'), url, at('to')],
    ] as const) {
      const lock = lockFolder(dataDir);
      expect(await migration(...way)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`process ${process.pid} serves the data folder ${dataDir}`),
      });
      lock.release();
    }
  });

  testWithPostgres('a draft from another database, and a folder that has changed since its migration', async () => {
    const from = fillFolder(at('from'));
    const urls = [(await newDatabase(server)).url, (await newDatabase(server)).url] as const;
    for (const url of urls) expect((await migration(from, url)).code).toBe(0);
    await killedMigration(urls[0], at('to'), 3);
    expect(await migration(urls[1], at('to'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/to has a migration of postgres:.* that is not complete/),
    });
    const store = openStore(fileIn(from), () => NOW_MS, 'write');
    store.setCheckpoint('files', 'later', 'value');
    store.close();
    expect(await migration(from, urls[0])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/from has changed since its migration into the database was complete/),
    });
  });

  testWithPostgres('a database that is changed, or that a server begins to use, during the migration', async () => {
    const { database, url } = await newDatabase(server);
    await openTables(url);
    const engine = openEngine(parseStoreUrl(url, { PGPASSWORD: PASSWORD }), { replica: 'migration' });
    const { requireUnchanged } = await openClusterOrigin(engine, 'a', undefined);
    const message = () =>
      requireUnchanged().then(
        () => 'unchanged',
        (error: OperatorError) => error.message,
      );
    expect(await message()).toBe('unchanged');
    await server.query(SEEN, database);
    expect(await message()).toBe('the server second uses the database');
    await server.query('delete from zomma.replicas', database);
    await server.query(APPEND, database);
    expect(await message()).toBe('the database was changed during the migration');
    await engine.close();
  });

  testWithPostgres('a database that cannot be reached, by the flag that names it', async () => {
    const dataDir = fillFolder(at('from'));
    const [port, other] = [await freePort(), await freePort()];
    for (const [hosts, sentence] of [
      [
        `127.0.0.1:${port}`,
        /cannot be reached\n {2}Start Postgres there, or correct the host and the port of FLAG\.\n/,
      ],
      [`127.0.0.1:${port},127.0.0.1:${other}`, /no primary among the hosts of FLAG: .*\n {2}.*, or correct FLAG\.\n/],
      ['nohost.invalid', /the name nohost\.invalid has no address\n {2}Correct the host of FLAG, or the DNS/],
    ] as const)
      for (const flag of ['--to', '--from']) {
        const url = `postgres://${USER}@${hosts}/none`;
        const done = await (flag === '--to' ? migration(dataDir, url) : migration(url, at('to')));
        expect(done.code).toBe(1);
        expect(done.stderr.replaceAll(flag, 'FLAG')).toMatch(sentence);
        expect(done.stderr).not.toContain('--store');
      }
  });

  testWithPostgres('two folders, two databases, and a URL that names no database', async () => {
    const url = 'postgres://db1/a';
    for (const [from, to, code, error] of [
      ['a', 'b', 1, 'a migration is from a data folder to a Postgres database, or back'],
      [url, url, 1, 'a migration is from a data folder to a Postgres database, or back'],
      ['a', 'postgres://db1', 78, '--to names no database'],
      ['postgres://db1', 'a', 78, '--from names no database'],
    ] as const)
      expect(await migration(from, to)).toMatchObject({ code, stderr: expect.stringContaining(error) });
  });
});
