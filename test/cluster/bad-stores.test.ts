import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder } from '../support/data-folder.ts';
import {
  freePort,
  PASSWORD,
  type PostgresServer,
  postgresForTests,
  testWithPostgres,
  USER,
} from '../support/postgres.ts';
import { PROGRAM, type Run, run } from '../support/process.ts';
import { filesIn, SharedStoreUsers } from '../support/shared-store.ts';
import { folderForTests } from '../support/test-folder.ts';

/** Databases and data folders with which nothing can be done: one sentence each, and nothing is changed. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const WRITE = ['members', 'revoke', '--uuid', UUID];
const MIRROR = 'mirror.sqlite';
const folder = folderForTests();
const at = (...names: string[]) => join(folder, ...names);
/** The data folder of a server that has stopped. */
const copy = at('copy');
let standby: PostgresServer | undefined;
afterAll(() => standby?.[Symbol.asyncDispose]());
const postgres = await postgresForTests();
let users: SharedStoreUsers;

beforeAll(async () => {
  if (!postgres) return;
  users = new SharedStoreUsers(postgres);
  await using server = await users.serve(copy);
  await server.loaded;
  await users.command(copy, ['members', 'add', '--uuid', UUID]);
}, 60_000);

/** Makes a database that a user owns. */
async function database(name: string, ...statements: string[]): Promise<SharedStoreUsers> {
  await postgres.query(`create database ${name} owner ${USER}`);
  for (const statement of statements) await postgres.query(statement, name);
  return new SharedStoreUsers(postgres, name);
}

interface BadStore {
  /** Returns the settings of the database. */
  readonly users: () => SharedStoreUsers | Promise<SharedStoreUsers>;
  readonly env?: Readonly<Record<string, string>>;
  /** What a command says, and what a server says if it is something else. */
  readonly command: (host: string) => string;
  readonly server?: string;
}

const CASES: Readonly<Record<string, BadStore>> = {
  'an unknown database': {
    users: () => new SharedStoreUsers(postgres, 'none'),
    command: (host) => `${host} has no database "none"`,
  },
  'a wrong password': {
    users: () => users,
    env: { ZOMMA_STORE_PASSWORD: 'wrong' },
    command: (host) => `${host} refuses the password of the user "${USER}"`,
  },
  'an unreachable primary': {
    users: async () => new SharedStoreUsers({ address: `127.0.0.1:${await freePort()}` }),
    command: () => 'cannot be reached',
  },
  'only a standby': {
    async users() {
      standby = await postgres.standby();
      return new SharedStoreUsers(standby);
    },
    command: () => `no primary among the hosts of --store: ${standby!.address} is a standby`,
  },
  'a read-only primary': {
    users: () => database('frozen', 'alter database frozen set default_transaction_read_only = on'),
    command: (host) => `no primary among the hosts of --store: ${host} is read-only`,
  },
  'an empty database': {
    users: () => database('empty'),
    command: () => 'the database has no data of Zomma',
    server: '',
  },
  'the database of another program': {
    users: () => database('orders', 'create table orders (id int)'),
    command: () => 'the database has no data of Zomma',
    server: 'the database has tables of another program',
  },
  'a schema of the same name of another program': {
    users: () => database('namesake', `create schema zomma authorization ${USER} create table zomma.orders (id int)`),
    command: () => 'the database has no data of Zomma',
    server: 'the database has tables of another program',
  },
  'tables that need a newer program': {
    async users() {
      const newer = await database('newer');
      await using server = await newer.serve(at('newer'));
      await server.stop('SIGTERM');
      await postgres.query('update zomma.cluster set schema = 999, least_reader = 998', 'newer');
      return newer;
    },
    command: () => 'the database has schema 999, which programs with a schema from 998 on can use',
  },
  'a user without rights': {
    async users() {
      await postgres.query(`create role stranger login password '${PASSWORD}'`);
      await postgres.allow('stranger');
      return new SharedStoreUsers(postgres, USER, 'stranger');
    },
    command: (host) => `the user "stranger" may not do this at ${host}: permission denied for schema zomma`,
  },
  'a user who may not create tables': {
    async users() {
      await postgres.query(`create role guest login password '${PASSWORD}'`);
      await postgres.allow('guest');
      await postgres.query('create database closed');
      return new SharedStoreUsers(postgres, 'closed', 'guest');
    },
    command: () => 'the database has no data of Zomma',
    server: 'permission denied for database closed',
  },
};

/** Expects a message with a hint, and nothing else. */
function expectSentence({ code, stdout, stderr }: Run, message: string): void {
  expect({ message, code, stdout }).toEqual({ message, code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/^zomma: \S[^\n]*[^.\n]\n {2}[A-Z`][^\n]*\.\n$/);
  expect(stderr).not.toContain(PASSWORD);
}

for (const [name, { users: usersOf, env = {}, command, server }] of Object.entries(CASES)) {
  testWithPostgres(`${name} is one sentence for a command and for a server`, async () => {
    const bad = await usersOf();
    const host = bad.store.split('@')[1]!.split('/')[0]!;
    const environment = { ...bad.env, ...env };
    const files = filesIn(copy);
    const done = await run(PROGRAM, [...WRITE, '--data-dir', copy], undefined, environment);
    expectSentence(done, command(host));
    expect(filesIn(copy)).toEqual(files);
    if (server === '') return;
    // A server makes its folder, but no copy that would look like that of a database.
    const dataDir = at(`server of ${name}`);
    const serving = ['serve', '--port', '0', '--data-dir', dataDir];
    const { code, stdout, stderr } = await run(PROGRAM, serving, undefined, environment);
    expectSentence({ code, stdout, stderr: stderr.replace(/^\{.*\}\n/gm, '') }, server ?? command(host));
    expect(filesIn(dataDir).map((file) => file.split(' ')[0]!)).toEqual(['lock']);
  });
}

describe('a data folder of the other kind is refused', () => {
  const alone = at('alone');
  beforeAll(() => void makeDataFolder(alone));

  const HERE: readonly (readonly string[])[] = [
    ['serve', '--port', '0'],
    ['start', '--port', '0'],
    ['ingest', at('chain.csv')],
    ['gex', 'SPY'],
    ['mcp'],
    ['mcp', '--feed', 'simulated'],
    ['members', 'list'],
    WRITE,
    ['compact'],
    ['backup', at('backup')],
    ['restore', at('backup')],
    ['upgrade'],
  ];
  for (const args of HERE) {
    testWithPostgres(`${args.slice(0, 2).join(' ')} without --store on the copy of a database`, async () => {
      const files = withoutLock(copy);
      const done = await run(PROGRAM, [...args, '--data-dir', copy]);
      const stderr = done.stderr.replace(/^(?:\{.*\}|compacting.*)\n/gm, '');
      expectSentence({ ...done, stderr }, `${copy} has the copy of a database that servers share`);
      expect(stderr).toContain('Name the database with --store');
      expect(withoutLock(copy)).toEqual(files);
    });
  }

  const THERE: readonly (readonly string[])[] = [
    ['serve', '--port', '0'],
    ['ingest', at('chain.csv')],
    ['gex', 'SPY'],
    ['mcp'],
    ['members', 'list'],
    WRITE,
    ['compact'],
  ];
  for (const args of THERE) {
    testWithPostgres(`${args.slice(0, 2).join(' ')} with --store on the data of a server alone`, async () => {
      const files = withoutLock(alone);
      const done = await users.command(alone, args);
      const stderr = done.stderr.replace(/^(?:\{.*\}|compacting.*)\n/gm, '');
      expectSentence({ ...done, stderr }, `${alone} has the data of a server alone, and --store names a database`);
      expect(stderr).toContain('zomma migrate');
      expect(withoutLock(alone)).toEqual(files);
    });
  }
});

/** A server takes the lock before it looks at the data. */
const withoutLock = (dataDir: string) => filesIn(dataDir).filter((file) => !file.startsWith('lock '));

describe('a copy that does not fit is refused by commands, and stays', () => {
  /** Copies the folder of the server, and changes its copy. */
  function changed(name: string, change: (db: Database) => unknown): string {
    const dataDir = at(name);
    mkdirSync(dataDir, { mode: 0o700 });
    copyFileSync(join(copy, MIRROR), join(dataDir, MIRROR));
    copyFileSync(join(copy, 'secret'), join(dataDir, 'secret'));
    const db = new Database(join(dataDir, MIRROR), { readwrite: true });
    change(db);
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close(true);
    return dataDir;
  }
  const READ = ['members', 'list'];
  const COPIES: readonly (readonly [
    name: string,
    make: () => string,
    args: readonly string[],
    message: (dataDir: string) => string,
  ])[] = [
    [
      'of another database',
      () => changed('foreign', (db) => db.run(`UPDATE mirror_place SET cluster = 'x/1'`)),
      WRITE,
      (dataDir) => `${join(dataDir, MIRROR)} does not fit the database of --store: the mirror is of another cluster`,
    ],
    [
      'that is older than the log',
      () => changed('older', (db) => db.run('UPDATE mirror_place SET place = -1')),
      WRITE,
      () => 'the log no longer has the changes since the mirror was last filled',
    ],
    [
      'with another schema',
      () => changed('schema', (db) => db.run('PRAGMA user_version = 999')),
      READ,
      (dataDir) => `${join(dataDir, MIRROR)} has schema 999, and this program needs schema`,
    ],
    [
      'with another schema, for a write',
      () => changed('schema2', (db) => db.run('PRAGMA user_version = 999')),
      WRITE,
      () => 'has schema 999, and this program needs schema',
    ],
    [
      'that is not complete',
      () => changed('part', (db) => db.run(`UPDATE mirror_place SET copied = '{"table":"audit","key":null}'`)),
      READ,
      (dataDir) => `${join(dataDir, MIRROR)} does not have all data yet`,
    ],
    [
      'that is damaged',
      () => {
        const dataDir = changed('damaged', () => {});
        writeFileSync(join(dataDir, MIRROR), 'x'.repeat(20_000));
        return dataDir;
      },
      READ,
      (dataDir) => `${join(dataDir, MIRROR)} is damaged`,
    ],
    [
      'that is damaged, for a write',
      () => {
        const dataDir = changed('damaged2', () => {});
        writeFileSync(join(dataDir, MIRROR), 'x'.repeat(20_000));
        return dataDir;
      },
      WRITE,
      () => 'is damaged',
    ],
    ['that is missing', () => at('missing'), READ, (dataDir) => `${dataDir} has no copy of the data`],
    ['that is missing, for a write', () => at('missing'), WRITE, (dataDir) => `${dataDir} has no copy of the data`],
  ];
  for (const [name, make, args, message] of COPIES) {
    testWithPostgres(name, async () => {
      const dataDir = make();
      const isThere = existsSync(dataDir);
      const contents = isThere ? contentsOf(dataDir) : '';
      expectSentence(await users.command(dataDir, args), message(dataDir));
      expect(existsSync(dataDir)).toBe(isThere);
      if (isThere) expect(contentsOf(dataDir)).toBe(contents);
    });
  }
});

/** Returns all rows of a copy as text, or its bytes if it is no database. */
function contentsOf(dataDir: string): string {
  const path = join(dataDir, MIRROR);
  let db: Database | undefined;
  try {
    db = new Database(path, { readwrite: true });
    const names = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values().flat() as string[];
    const rows = names.map((name) => [name, db!.query(`SELECT * FROM "${name}"`).values()]);
    return JSON.stringify([db.query('PRAGMA user_version').values(), rows]);
  } catch {
    return readFileSync(path, 'latin1');
  } finally {
    db?.close(true);
  }
}
