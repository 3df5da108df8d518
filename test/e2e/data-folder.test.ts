import { Database } from 'bun:sqlite';
import { beforeEach, describe, expect, test } from 'bun:test';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SCHEMA } from '../../src/store/folder/upgrade.ts';
import { FIRST_SCHEMA } from '../../src/store/migrations.ts';
import { writeChain } from '../support/chain-file.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { NEXT_VERSION, PROGRAM, run, startServer } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';

/** A data folder in the hands of several processes, each run from source. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

const at = testFolder();
let dataDir: string;
let database: string;
beforeEach(() => {
  dataDir = at('data');
  database = join(dataDir, 'zomma.sqlite');
});

const zomma = (...args: string[]) => run(PROGRAM, [...args, '--data-dir', dataDir]);
/** Expects that a command fails with code 1. `message` is an asymmetric matcher of its stderr. */
const expectFailure = async (command: readonly string[], message: unknown, program = zomma) => {
  const { code, stderr } = await program(...command);
  expect([command, code, stderr]).toEqual([command, 1, message as string]);
};
const serve = (program: readonly string[], ...args: string[]) =>
  startServer(program, ['serve', '--port', '0', '--past', 'off', '--data-dir', dataDir, ...args]);
const schema = (path = database) => {
  using db = new Database(path, { readonly: true });
  return db.query<{ user_version: number }, []>('PRAGMA user_version').get()!.user_version;
};

test('has one server: a second one and an upgrade are refused with the process id, until the first is killed', async () => {
  const server = await serve(PROGRAM);
  for (const command of [['serve', '--port', '0'], ['start', '--port', '0'], ['upgrade']]) {
    await expectFailure(command, expect.stringContaining(`process ${server.pid} serves the data folder ${dataDir}`));
  }
  // Commands that need no server run beside it.
  expect(await zomma('members', 'list')).toMatchObject({ code: 0 });
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
  await using next = await serve(PROGRAM);
  expect(await (await fetch(`${next.url}/health`)).json()).toEqual({ status: 'online' });
}, 60_000);

describe('a trial', () => {
  test('is refused in a folder with recorded data, whose feeds stay as they were', async () => {
    mkdirSync(at('drop'));
    writeChain(at('drop/chain.csv'));
    const server = await serve(PROGRAM, '--feed', `files:${at('drop')}`);
    await server.loaded;
    await server.stop('SIGTERM');
    await expectFailure(['start', '--port', '0'], expect.stringContaining('has recorded market data'));
    const { feeds } = JSON.parse((await zomma('feeds', '--json')).stdout);
    expect(feeds.map(({ feed }: { feed: string }) => feed)).toEqual(['files']);
    expect(JSON.parse((await zomma('members', 'list', '--json')).stdout).members).toEqual([]);
  }, 60_000);

  test('is refused in a folder with a member', async () => {
    makeDataFolder(dataDir);
    await zomma('members', 'add', '--uuid', UUID);
    await expectFailure(['start', '--port', '0'], expect.stringContaining('has members'));
    expect(JSON.parse((await zomma('members', 'list', '--json')).stdout).members).toHaveLength(1);
  }, 60_000);

  test('may be repeated in its own folder', async () => {
    for (let i = 0; i < 2; i++) {
      await using _server = await startServer(PROGRAM, [
        'start',
        '--port',
        '0',
        '--past',
        'off',
        '--data-dir',
        dataDir,
      ]);
    }
    expect(JSON.parse((await zomma('members', 'list', '--json')).stdout).members).toHaveLength(1);
  }, 60_000);
});

const next = (...args: string[]) => run(NEXT_VERSION, [...args, '--data-dir', dataDir]);

/** Commands on the data of a folder. */
const ON_DATA = [
  'members list',
  'chains list',
  'feeds',
  'history SPY',
  'gex SPY',
  'surface SPY',
  `members add --uuid ${UUID}`,
  'chains forget --ticker SPY',
  'call get_target_universe {}',
];

describe('the schema of the version before', () => {
  test.each(ON_DATA)('is left alone by `zomma %s`, which names the remedy', async (command) => {
    makeDataFolder(dataDir);
    const before = readdirSync(dataDir);
    const message = new RegExp(`has schema ${SCHEMA}, and this program needs.*\n.*zomma upgrade`);
    await expectFailure(command.split(' '), expect.stringMatching(message), next);
    expect(readdirSync(dataDir)).toEqual(before);
    expect(schema()).toBe(SCHEMA);
  });

  test('is upgraded by `zomma upgrade` after a copy, and is back after `zomma upgrade --back`', async () => {
    makeDataFolder(dataDir);
    await zomma('members', 'add', '--uuid', UUID);
    expect(await next('upgrade')).toMatchObject({ code: 0, stdout: expect.stringContaining(`before ${SCHEMA}`) });
    expect([schema(), schema(`${database}.schema-${SCHEMA}`)]).toEqual([SCHEMA + 1, SCHEMA]);
    expect(await next('upgrade')).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
    const message = `has schema ${SCHEMA + 1}, but this program supports`;
    await expectFailure(['members', 'list'], expect.stringContaining(message));
    expect(await next('upgrade', '--back')).toMatchObject({ code: 0 });
    expect([schema(), schema(`${database}.schema-${SCHEMA + 1}`)]).toEqual([SCHEMA, SCHEMA + 1]);
    expect(await zomma('members', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining(UUID) });
  }, 60_000);

  test('is upgraded by the server, which logs it', async () => {
    makeDataFolder(dataDir);
    const server = await serve(NEXT_VERSION);
    const { stderr } = await server.stop('SIGTERM');
    expect(stderr).toContain('"data_upgraded"');
    expect([schema(), schema(`${database}.schema-${SCHEMA}`)]).toEqual([SCHEMA + 1, SCHEMA]);
  }, 60_000);
});

describe('a schema from before 0.2.0', () => {
  const EARLY = FIRST_SCHEMA - 1;
  /** Makes a database look like one of an early version, and returns its folder. */
  const makeEarly = () => {
    makeDataFolder(dataDir);
    const db = new Database(database, { readwrite: true });
    db.run(`PRAGMA user_version = ${EARLY}`);
    db.close(true);
    return dataDir;
  };

  test.each([
    'start --port 0',
    'serve --port 0',
    ...ON_DATA,
    'ingest /tmp',
    'audit',
    'check',
    'compact',
    'backup FOLDER',
    'upgrade',
    'upgrade --back',
  ])('is refused by `zomma %s`, which names 0.2.0', async (command) => {
    const before = [readFileSync(join(makeEarly(), 'zomma.sqlite')), readdirSync(dataDir)];
    const { code, stdout, stderr } = await zomma(...command.replace('FOLDER', at('backup')).split(' '));
    expect([code, stdout + stderr]).toEqual([
      command === 'check' ? 2 : 1,
      expect.stringMatching(new RegExp(`has schema ${EARLY}, but .* version 0\\.2\\.0 .*\n.*0\\.2\\.0`)),
    ]);
    expect([readFileSync(database), readdirSync(dataDir).filter((name) => name !== 'lock')]).toEqual(before);
    expect(existsSync(at('backup'))).toBe(false);
  });

  test('is refused in a backup too', async () => {
    makeDataFolder(dataDir);
    const backup = at('backup');
    expect(await zomma('backup', backup)).toMatchObject({ code: 0 });
    const path = join(backup, 'manifest.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), schema: EARLY }));
    const to = at('restored');
    for (const args of [
      ['backup', 'verify', backup],
      ['restore', backup, '--data-dir', to],
    ]) {
      const { code, stderr } = await run(PROGRAM, args);
      expect([args[0], code, stderr]).toEqual([args[0], 1, expect.stringContaining('from version 0.2.0')]);
    }
    expect(existsSync(to)).toBe(false);
  }, 60_000);
});

describe('the secret', () => {
  test('beside members is never made anew: neither by a start nor by a request', async () => {
    makeDataFolder(dataDir);
    await zomma('members', 'add', '--uuid', UUID);
    rmSync(join(dataDir, 'secret'));
    const message = 'secret is missing, and the key of a member depends';
    await expectFailure(['serve', '--port', '0', '--past', 'off'], expect.stringContaining(message));
    expect(existsSync(join(dataDir, 'secret'))).toBe(false);
  }, 60_000);

  test('is made by the first start, before any request', async () => {
    await using _server = await serve(PROGRAM);
    expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600);
  }, 60_000);
});

const isRoot = process.geteuid?.() === 0;
/** A user without an account of its own. */
const NOBODY = 65_534;

test.skipIf(!isRoot)('of another user is read by root, and not written', async () => {
  makeDataFolder(dataDir);
  for (const path of [dataDir, database]) chownSync(path, NOBODY, NOBODY);
  for (const command of [
    ['members', 'add', '--uuid', UUID],
    ['serve', '--port', '0'],
    ['start', '--port', '0'],
    ['upgrade'],
  ]) {
    await expectFailure(command, expect.stringMatching(/belongs to (nobody|user 65534).*\n.*sudo -u/));
  }
  expect(await zomma('members', 'list')).toMatchObject({ code: 0 });
  const owners = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).uid]);
  expect(owners).toEqual([['zomma.sqlite', NOBODY]]);
});

test.skipIf(!isRoot)(
  'a backup by root of the folder of another user is counted there, and no link leads root elsewhere',
  async () => {
    makeDataFolder(dataDir);
    const [elsewhere, mark] = [at('elsewhere'), join(dataDir, 'last-backup')];
    writeFileSync(elsewhere, 'untouched');
    symlinkSync(elsewhere, mark);
    for (const path of [dataDir, database]) chownSync(path, NOBODY, NOBODY);
    expect(await zomma('backup', at('copy'))).toMatchObject({ code: 0, stderr: '' });
    const { uid, mode } = lstatSync(mark);
    expect([uid, mode & 0o777, lstatSync(mark).isFile()]).toEqual([NOBODY, 0o600, true]);
    expect(readFileSync(elsewhere, 'utf8')).toBe('untouched');
    expect(readFileSync(mark, 'utf8')).toMatch(/^20\d\d-.*Z\n$/);
  },
);
