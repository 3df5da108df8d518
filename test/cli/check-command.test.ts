import { Database } from 'bun:sqlite';
import { beforeEach, expect, test } from 'bun:test';
import { chmodSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/store/sqlite.ts';
import { keepLevels } from '../store/samples.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { PROGRAM, run, startLoaded } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';

const DAY_MS = 86_400_000;

const at = testFolder();
let dataDir: string;
let database: string;
beforeEach(() => {
  dataDir = makeDataFolder(at('data'));
  database = join(dataDir, 'zomma.sqlite');
  writeFileSync(join(dataDir, 'last-backup'), '');
});

interface Outcome {
  readonly of: string;
  readonly state: string;
  readonly message: string;
  readonly hint?: string;
}

/** Runs `zomma check` and returns its exit code and the outcomes that are not well. */
async function check(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const all = ['check', '--data-dir', dataDir, '--port', '0', '--json', ...args];
  const { code, stdout, stderr } = await run(PROGRAM, all, undefined, env);
  if (stdout === '') throw new Error(stderr);
  const { well, checks } = JSON.parse(stdout) as { well: boolean; checks: Outcome[] };
  return { code, well, checks, unwell: checks.filter(({ state }) => state !== 'ok') };
}

/** Stores a snapshot of some days ago, and returns its moment. */
function store(days: number): number {
  const opened = openStore(database, Date.now);
  const asOf = Math.floor(Date.now() / 1000) * 1000 - days * DAY_MS;
  keepLevels(opened, { asOf });
  opened.close();
  return asOf;
}

test('a sound installation is well, with and without a server, and the check writes nothing', async () => {
  store(1);
  const before = readFileSync(database);
  const idle = await check();
  expect([idle.unwell, idle.code, idle.well]).toEqual([[], 0, true]);
  expect(idle.checks.map(({ of }) => of)).toEqual([
    ...['settings', 'universe', 'data folder', 'server', 'secret', 'database', 'snapshots', 'clock', 'disk', 'backup'],
    ...['feeds', 'certificate', 'port', 'compiler', 'descriptors'],
  ]);
  expect(readFileSync(database).equals(before)).toBe(true);
  await using server = await startLoaded(PROGRAM, ['serve', '--port', '0', '--data-dir', dataDir]);
  const served = await check();
  expect(served.checks.find(({ of }) => of === 'server')!.message).toBe(`process ${server.pid} serves the data folder`);
  expect(served.checks.find(({ of }) => of === 'feed')!.message).toContain('simulated is ok');
  expect([served.unwell, served.code]).toEqual([[], 0]);
  // The check has settings of its own. Its default says nothing about the server.
  const feedsOf = ({ checks }: typeof served) => checks.find(({ of }) => of === 'feeds')!.message;
  expect([idle, served, await check(['--feed', 'simulated'])].map(feedsOf)).toEqual([
    '--feed simulated',
    'not examined: this check has no --feed, and the server may have one',
    '--feed simulated',
  ]);
});

test.each<[string, prepare: () => unknown, env: Record<string, string>, outcome: RegExp]>([
  [
    'a misspelt variable',
    () => [],
    { ZOMMA_PROT: '1' },
    /^settings warning: ZOMMA_PROT is not a setting: did you mean ZOMMA_PORT\?$/,
  ],
  ['an invalid variable', () => [], { ZOMMA_SEED: 'x' }, /^settings failure: /],
  ['a missing universe', () => ['--universe', '/no/such.json'], {}, /^universe failure: /],
  ['an unknown feed', () => ['--feed', 'nyse'], {}, /^feeds failure: "nyse" is not a feed$/],
  ['a missing certificate', () => ['--tls-cert', '/no/c.pem', '--tls-key', '/no/k.pem'], {}, /^certificate failure: /],
  ['a folder that its group may write to', () => chmodSync(dataDir, 0o770), {}, /^data folder warning: /],
  ['an old backup', () => utimesSync(join(dataDir, 'last-backup'), 1e9, 1e9), {}, /^backup warning: /],
  ['no backup', () => rmSync(join(dataDir, 'last-backup')), {}, /^backup warning: none was made$/],
  ['a snapshot from the future', () => store(-30), {}, /^clock warning: /],
  [
    'an operations address for everybody',
    () => ['--ops', '0.0.0.0:9464'],
    {},
    /^operations warning: --ops 0\.0\.0\.0:9464$/,
  ],
  ['no compiler', () => [], { BUN_JSC_useJIT: '0' }, /^compiler warning: /],
])('tells %s', async (_what, prepare, env, outcome) => {
  const given = prepare();
  const { unwell, code } = await check(Array.isArray(given) ? given : [], env);
  expect(unwell.map(({ of, state, message }) => `${of} ${state}: ${message}`)).toEqual([
    expect.stringMatching(outcome),
  ]);
  const [{ state, message, hint }] = unwell as [Outcome];
  expect([code, /did you mean/.test(message) || hint !== undefined]).toEqual([state === 'failure' ? 2 : 1, true]);
});

test('reads every snapshot and every page, unless --quick is given', async () => {
  const asOf = store(1);
  const db = new Database(database, { readwrite: true, strict: true });
  db.run("UPDATE snapshots SET columns = x'00' WHERE as_of = ?", [asOf]);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const { page_size: size } = db.query('PRAGMA page_size').get() as { page_size: number };
  db.close(true);
  const damaged = await check();
  expect([damaged.code, damaged.unwell]).toMatchObject([
    1,
    [{ of: 'snapshots', message: expect.stringContaining('1 damaged, among them SPX') }],
  ]);
  expect((await check(['--quick'])).unwell).toEqual([]);
  const bytes = readFileSync(database);
  bytes.fill(0xff, bytes.length - size, bytes.length - size / 2);
  writeFileSync(database, bytes);
  const { unwell, code } = await check();
  expect([code, unwell[0]]).toMatchObject([2, { of: 'database', state: 'failure' }]);
});

test('reports a file that is no database, and a folder without data', async () => {
  writeFileSync(database, 'hello');
  expect((await check()).unwell).toMatchObject([
    { of: 'database', state: 'failure', hint: expect.stringContaining('backup') },
  ]);
  rmSync(dataDir, { recursive: true });
  expect((await check()).unwell).toMatchObject([{ of: 'data folder', state: 'warning' }]);
});
