import { afterAll, beforeAll, expect } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import { closeOf } from '../../src/market/calendar.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { withStore } from '../../src/server/stored-data.ts';
import type { SharedStore } from '../../src/store/sqlite.ts';
import { writeChain } from '../support/chain-file.ts';
import { INITIALIZE, INITIALIZED } from '../support/mcp-wire.ts';
import { PASSWORD, postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { cleanEnv, PROGRAM, type Run, run, type Server } from '../support/process.ts';
import { type ProviderServer, startProviderServer } from '../support/provider-server.ts';
import { filesIn, SharedStoreUsers } from '../support/shared-store.ts';
import { folderForTests } from '../support/test-folder.ts';
import type { Named } from './command-kinds.ts';

/** Commands on the data folder of a server that shares a database with another one. */

const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const CARRIED = '8c1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

const folder = folderForTests();
const at = (...names: string[]) => join(folder, ...names);
let users: SharedStoreUsers;
let terminal: ProviderServer;
/** Two servers. Commands run on the data folder of the first one, and the second one gets what they write. */
let servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await terminal?.close();
});
const postgres = await postgresForTests();
const [a, b] = [at('a'), at('b')] as const;

beforeAll(async () => {
  if (!postgres) return;
  users = new SharedStoreUsers(postgres);
  mkdirSync(at('drop'));
  writeChain(at('drop', 'drop.csv'), 'DROP');
  writeChain(at('old.csv'), 'TEST', '2026-05-01T16:00:00-04:00');
  writeChain(at('test.csv'));
  const [CHPT] = instrumentsOf({ seed: 1, universe: loadUniverse('{"themes":{"few":["CHPT"]}}'), clock: 'real' });
  terminal = await startProviderServer({
    chainOf: (ticker, day) =>
      ticker === 'CHPT' && day !== undefined ? simulatedChain(CHPT!, closeOf(day)) : undefined,
  });
  servers = [await users.serve(a, '--feed', `files:${at('drop')}`)];
  mkdirSync(b, { mode: 0o700 });
  copyFileSync(join(a, 'secret'), join(b, 'secret'));
  servers.push(await users.serve(b, '--feed', `files:${at('drop')}`));
  await Promise.all(servers.map(({ loaded }) => loaded));
  // A server alone with the same secret, a member and the same chain.
  mkdirSync(at('alone'), { mode: 0o700 });
  copyFileSync(join(a, 'secret'), at('alone', 'secret'));
  for (const args of [
    ['ingest', at('test.csv')],
    ['members', 'add', '--uuid', CARRIED],
    ['members', 'export', at('carried')],
  ])
    await run(PROGRAM, [...args, '--data-dir', at('alone')]);
  // A feed that the servers had earlier.
  const place = { dataDir: a, store: users.store, storePassword: PASSWORD };
  await withStore(place, 'write', (store) =>
    store.write((tx) => {
      tx.openFeeds([{ name: 'cboe', simulated: false, tickers: [] }]);
      tx.openFeeds([{ name: 'files', simulated: false, tickers: [] }]);
    }),
  );
}, 60_000);

interface Write {
  readonly args: () => string[];
  /** Whether the copy of the other server has what the command has written. */
  readonly isCopied: (store: SharedStore) => boolean;
}

const member = (store: SharedStore) => store.member(UUID);
let keyBefore: string | undefined;
/** In this order, because some need what others write. */
const WRITES: Readonly<Record<Named<'write' | 'compact'>, Write>> = {
  ingest: {
    args: () => ['ingest', at('old.csv'), at('test.csv')],
    isCopied: (store) => store.snapshots('TEST').length === 2,
  },
  'ingest thetadata': {
    args: () => [
      ...['ingest', 'thetadata', '--ticker', 'CHPT', '--from', '2026-08-14', '--to', '2026-08-17'],
      ...['--thetadata-url', terminal.url],
    ],
    isCopied: (store) => store.snapshots('CHPT').length === 2,
  },
  'chains forget': {
    args: () => ['chains', 'forget', '--ticker', 'CHPT'],
    isCopied: (store) => store.snapshots('CHPT').length === 0,
  },
  compact: {
    args: () => ['compact', '--keep-chains', '30'],
    isCopied: (store) => store.snapshots('TEST').length === 1,
  },
  'feeds --forget': {
    args: () => ['feeds', '--forget', 'cboe'],
    isCopied: (store) => store.feedStates().every(({ feed }) => feed !== 'cboe'),
  },
  'members add': {
    args: () => ['members', 'add', '--uuid', UUID],
    isCopied: (store) => member(store)?.status === 'active',
  },
  'members rekey': {
    args: () => ['members', 'rekey', '--uuid', UUID],
    isCopied(store) {
      keyBefore = member(store)?.keyDigest;
      return member(store)?.generation === 1;
    },
  },
  'members link': {
    args: () => ['members', 'link', '--uuid', UUID, '--telegram', '5550123456'],
    isCopied: (store) => store.telegramLink(UUID)?.telegramId === '5550123456',
  },
  'members import': {
    args: () => ['members', 'import', at('carried')],
    isCopied: (store) => store.member(CARRIED)?.status === 'active',
  },
  'secret rotate': {
    args: () => ['secret', 'rotate', '--grace', '1h'],
    isCopied: (store) => member(store)?.previousDigest === keyBefore && keyBefore !== undefined,
  },
  'members revoke': {
    args: () => ['members', 'revoke', '--uuid', UUID],
    isCopied: (store) => member(store)?.status === 'revoked',
  },
};

for (const [name, { args, isCopied }] of Object.entries(WRITES)) {
  testWithPostgres(`${name} writes into the database, and another server has it`, async () => {
    // A snapshot stays until its levels are recorded.
    if (name === 'compact') await users.untilCopied(a, (store) => store.levelsDue().length === 0);
    const { code, stderr } = await users.command(a, args());
    expect([code, stderr.replace(/^compacting .*\n/, '')]).toEqual([0, '']);
    await users.untilCopied(b, isCopied);
  });
}

testWithPostgres('a new key is admitted by another server, and a revoked one by none', async () => {
  const { stdout } = await users.command(a, ['members', 'add', '--uuid', UUID, '--json']);
  const headers = { 'X-API-Key': JSON.parse(stdout).api_key as string };
  const admitted = async () =>
    Promise.all(
      servers.map(async ({ url }) => (await fetch(`${url}/api/v1/nodes/gex/TEST`, { headers })).status === 200),
    );
  await users.untilCopied(b, (store) => member(store)?.status === 'active');
  expect(await admitted()).toEqual([true, true]);
  await users.command(a, ['members', 'revoke', '--uuid', UUID]);
  while ((await admitted()).includes(true)) await Bun.sleep(10);
});

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
interface Reading {
  readonly args: () => string[];
  readonly stdin?: string;
  readonly check: (run: Run) => unknown;
  /** Whether a server alone with the same chain has the same output, byte by byte. */
  readonly isAsAlone?: true;
}

const CALL = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'get_live_gex_nodes', arguments: { ticker: 'TEST' } },
};
const READS: Readonly<Record<Named<'copy'>, Reading>> = {
  gex: {
    args: () => ['gex', 'TEST', '--json'],
    check: ({ stdout }) => expect(json(stdout)).toMatchObject({ spot_price: 100, call_wall: 105 }),
    isAsAlone: true,
  },
  surface: {
    args: () => ['surface', 'TEST', '--json'],
    check: ({ stdout }) => expect(json(stdout)).toMatchObject({ expiries: { count: 1 } }),
    isAsAlone: true,
  },
  history: {
    args: () => ['history', 'TEST', '--from', '2026-08-01', '--to', '2026-08-31', '--csv'],
    check: ({ stdout }) => expect(stdout.trim().split('\n')).toHaveLength(2),
  },
  call: {
    args: () => ['call', 'get_live_gex_nodes', '{"ticker":"TEST"}'],
    check: ({ stdout }) => expect(json(stdout)).toMatchObject({ spot_price: 100 }),
    isAsAlone: true,
  },
  'chains list': {
    args: () => ['chains', 'list', '--ticker', 'TEST'],
    check: ({ stdout }) => expect(stdout).toMatch(/^TEST +2026-08-21T20:00:00.000Z .*\n$/),
    isAsAlone: true,
  },
  feeds: {
    args: () => ['feeds', '--json'],
    check: ({ stdout }) => expect(json(stdout)).toMatchObject({ feeds: [{ feed: 'files' }] }),
  },
  mcp: {
    args: () => ['mcp'],
    stdin: [INITIALIZE, INITIALIZED, CALL].map((each) => `${JSON.stringify(each)}\n`).join(''),
    check: ({ stdout }) => expect(stdout).toMatch(/"id":2\b.*"spot_price":100\b|"spot_price":100\b.*"id":2\b/),
  },
  'members list': {
    args: () => ['members', 'list', '--json'],
    check: ({ stdout }) =>
      expect(json(stdout)).toMatchObject({ members: [{ uuid: UUID, status: 'revoked' }, { uuid: CARRIED }] }),
  },
  'members export': {
    args: () => ['members', 'export', at('exported')],
    check: ({ stdout }) => expect(stdout).toBe(`${at('exported')}: 2 members\n`),
  },
  audit: {
    args: () => ['audit'],
    check: ({ stdout }) => expect(stdout).toMatch(/member_added[\s\S]*members_imported[\s\S]*secret_rotated/),
  },
};

const SENTENCE = /^zomma: \S[^\n]*\n {2}[A-Z`][^\n]*\.\n$/;

for (const [name, { args, stdin, check, isAsAlone }] of Object.entries(READS)) {
  testWithPostgres(`${name} reads the copy while a server runs`, async () => {
    if (name === 'history') await users.untilCopied(a, (store) => store.levelsDue().length === 0);
    const done = await users.command(a, args(), stdin);
    expect([name, done.code]).toEqual([name, 0]);
    check(done);
    if (!isAsAlone) return;
    const alone = await run(PROGRAM, [...args(), '--data-dir', at('alone')], stdin);
    expect(done).toEqual(alone);
  });
}

const outcomes = async (dataDir: string) => {
  const { code, stdout } = await users.command(dataDir, ['check', '--port', '0', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { of: string; state: string; message: string; hint?: string }[] };
  return { code, checks, of: (of: string) => checks.filter((each) => each.of === of) };
};

testWithPostgres('check examines the copy, the database, the other servers and what they share', async () => {
  const { of } = await outcomes(a);
  const messages = (subject: string) => of(subject).map(({ state, message }) => `${state}: ${message}`);
  expect(messages('primary')).toEqual([expect.stringContaining(`ok: ${postgres.address}, timeline 1, schema `)]);
  expect(messages('leader')).toEqual(['ok: a leads']);
  expect(messages('replica')).toEqual([
    expect.stringMatching(/^ok: a: version \S+, .*, seen \d+ s ago$/),
    expect.stringMatching(/^ok: b: version \S+, .*, seen \d+ s ago$/),
  ]);
  expect(messages('secret')).toEqual(['ok: it is that of the other servers']);
  expect(messages('clocks')).toEqual([expect.stringMatching(/^ok: that of this machine .* differ by \d+ ms$/)]);
  expect(messages('database')).toEqual([expect.stringMatching(/^ok: schema \d+, .*, every page is sound$/)]);
  expect(of('backup')).toEqual([]);
  expect(messages('feeds')).toEqual(['ok: not examined: this check has no --feed, and the server may have one']);
  // The second server has the file from before the rotation.
  const stale = await outcomes(b);
  expect(stale.of('secret')).toEqual([
    {
      of: 'secret',
      state: 'warning',
      message: expect.stringMatching(/^it was rotated on another server, and is accepted until \S+Z$/),
      hint: expect.stringMatching(/Copy the file "secret" \(mode 600\) .* A running server reads it at once\.$/),
    },
  ]);
  expect(JSON.stringify(stale.checks)).not.toContain('secret rotate');
  // A data folder whose secret is gone.
  mkdirSync(at('lost'), { mode: 0o700 });
  copyFileSync(join(a, 'mirror.sqlite'), at('lost', 'mirror.sqlite'));
  const [lost] = (await outcomes(at('lost'))).of('secret');
  expect(lost).toMatchObject({ state: 'failure', message: 'it is missing, and the other servers have one' });
});

testWithPostgres('ingest of a file again stores nothing, and says so', async () => {
  const { stdout } = await users.command(a, ['ingest', at('test.csv')]);
  expect(stdout).toContain('18 rows: 0 stored, 18 already known, 0 rejected\n');
});

testWithPostgres('ingest makes a folder and its copy', async () => {
  writeChain(at('new.csv'), 'NEW');
  const { code } = await users.command(at('made'), ['ingest', at('new.csv')]);
  expect(code).toBe(0);
  await users.untilCopied(b, (store) => store.snapshots('NEW').length === 1);
  await users.untilCopied(at('made'), (store) => store.snapshots().length === 3);
});

testWithPostgres('mcp notifies its client of levels that a server has recorded', async () => {
  const [command, ...args] = PROGRAM;
  const client = new Client({ name: 'test', version: '1' });
  const env = { ...cleanEnv(), ...users.env };
  await client.connect(new StdioClientTransport({ command: command!, args: [...args, 'mcp', '--data-dir', b], env }));
  const uri = 'zomma://gex/TEST';
  const notified = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  });
  await client.subscribeResource({ uri });
  writeChain(at('later.csv'), 'TEST', '2026-08-24T16:00:00-04:00');
  await users.command(a, ['ingest', at('later.csv')]);
  expect(await notified).toBe(uri);
  await client.close();
});

testWithPostgres('without the database, commands that read answer the same, and those that write fail', async () => {
  const readings = Object.entries(READS).filter(([name]) => name !== 'feeds' && name !== 'members export');
  const read = () =>
    Promise.all(
      readings.map(async ([, { args, stdin }]) =>
        (await users.command(a, args(), stdin)).stdout.replace(/"age_s":\d+/g, '"age_s":0'),
      ),
    );
  for (const server of servers) await server.stop('SIGTERM');
  servers = [];
  const before = await read();
  await postgres.stop();
  expect(await read()).toEqual(before);
  const files = filesIn(a);
  for (const [name, { args }] of Object.entries(WRITES)) {
    const { code, stdout, stderr } = await users.command(a, args());
    expect([name, code, stdout]).toEqual([name, 1, '']);
    const sentence = stderr.replace(/^compacting .*\n/, '');
    expect(sentence).toMatch(SENTENCE);
    expect(sentence).toStartWith(`zomma: ${postgres.address} cannot be reached\n`);
  }
  expect((await users.command(at('none'), ['ingest', at('test.csv')])).stderr).toContain('cannot be reached');
  expect(existsSync(at('none'))).toBe(false);
  const { code, of } = await outcomes(a);
  expect([code, of('primary')]).toMatchObject([2, [{ state: 'failure', message: expect.stringContaining('reached') }]]);
  expect(filesIn(a)).toEqual(files);
});
