import { beforeAll, describe, expect } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { writeChain } from '../support/chain-file.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { PROGRAM, run, startLoaded } from '../support/process.ts';
import { damageFile, smallDisk } from '../support/small-disk.ts';
import { folderForTests } from '../support/test-folder.ts';

const UUID = '6f1c2a34-5b6d-4e7f-8a9b-000000000001';
const folder = folderForTests();
const { at, mount, fill, free, onDisk, isMounted } = smallDisk();

/** Overwrites the database after its first page. */
const damage = (dataDir: string) => damageFile(join(dataDir, 'zomma.sqlite'));

describe('commands', () => {
  const READING = ['members list', 'audit', 'chains list', 'gex SPY', 'feeds', 'history SPY'];
  const WRITING = [
    'serve --port 0',
    'start --port 0',
    `members add --uuid ${UUID.replace(/1$/, '2')}`,
    'secret rotate',
  ];
  const MORE = ['compact', 'upgrade', 'check', 'check --quick'];
  const all = [...READING, ...WRITING, ...MORE, `backup ${join(folder, 'backup-a')}`, `backup ${at('backup-b')}`];
  const runOn = (dataDir: string) => {
    rmSync(join(folder, 'backup-a'), { recursive: true, force: true });
    return Promise.all(
      all.map(async (command) => {
        const { code, stdout, stderr } = await run(PROGRAM, [...command.split(' '), '--data-dir', dataDir]);
        expect([command, stdout + stderr]).toEqual([command, expect.not.stringMatching(/^ {4}at |SQLiteError/m)]);
        return [command, code, stdout + stderr] as const;
      }),
    );
  };

  beforeAll(async () => {
    if (!isMounted) return;
    const drop = join(folder, 'drop');
    mkdirSync(drop);
    writeChain(join(drop, 'SPY.csv'), 'SPY');
    await using _server = await startLoaded(PROGRAM, [
      ...['serve', '--port', '0', '--feed', `files:${drop}`, '--data-dir', at('data')],
    ]);
    using store = openData(at('data'));
    openAccess(store, at('data')).addMember({ uuid: UUID });
  });

  onDisk(
    'answer from a full and from a read-only disk what they only read, and say what is wrong with the disk',
    async () => {
      for (const [make, mend, reason] of [
        [fill, free, /disk is full/],
        [() => mount('-o', 'remount,ro'), () => mount('-o', 'remount,rw'), /read-only|cannot be opened/],
      ] as const) {
        rmSync(join(folder, 'backup-a'), { recursive: true, force: true });
        make();
        try {
          for (const [command, code, text] of await runOn(at('data'))) {
            if (READING.includes(command) || command === `backup ${join(folder, 'backup-a')}`)
              expect([command, code, text]).toEqual([command, 0, expect.any(String)]);
            else if (!command.startsWith('check'))
              expect([command, code, text]).toEqual([command, 1, expect.stringMatching(reason)]);
          }
        } finally {
          mend();
        }
      }
      expect((await run(PROGRAM, ['members', 'list', '--data-dir', at('data')])).stdout).toContain(UUID);
    },
    120_000,
  );

  onDisk(
    'call a damaged database damaged',
    async () => {
      cpSync(at('data'), at('damaged'), { recursive: true });
      damage(at('damaged'));
      for (const [command, code, text] of await runOn(at('damaged')))
        expect([command, code > 0, text]).toEqual([command, true, expect.stringMatching(/damaged|malformed/)]);
    },
    120_000,
  );

  onDisk(
    'end without an error if the reader of their output is gone',
    async () => {
      const shell = `set -o pipefail; "$@" members list --data-dir ${at('data')} | true`;
      for (let round = 0; round < 5; round++) {
        expect(await run(['bash', '-c', shell, 'bash', ...PROGRAM], [])).toMatchObject({ code: 0, stderr: '' });
      }
    },
    60_000,
  );
});

onDisk(
  'repeated backups to a full disk name it, leave nothing on it, and go on once it has room',
  async () => {
    mkdirSync(at('series'));
    fill();
    const args = ['backup', at('series'), '--every', '1s', '--data-dir', makeDataFolder(join(folder, 'backed-up'))];
    const child = Bun.spawn([...PROGRAM, ...args], { stdout: 'pipe', stderr: 'pipe' });
    try {
      const { value } = await child.stderr.getReader().read();
      expect(new TextDecoder().decode(value)).toMatch(
        new RegExp(`no backup was made: .* to ${at('series')}.*the disk is full`),
      );
      expect(readdirSync(at('series')).filter((name) => name !== 'lock')).toEqual([]);
    } finally {
      free();
    }
    expect(new TextDecoder().decode((await child.stdout.getReader().read()).value)).toContain('checked');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  },
  30_000,
);

onDisk(
  'a running server answers on a full disk and is ready; with a damaged database it is not',
  async () => {
    const args = ['start', '--port', '0', '--past', 'off', '--ops', '127.0.0.1:0', '--data-dir', at('served')];
    // The pages of the first run are in the file itself. Pages of the write-ahead log would hide damage of the file.
    await (await startLoaded(PROGRAM, args)).stop('SIGTERM');
    await using server = await startLoaded(PROGRAM, args);
    using store = openData(at('served'));
    openAccess(store, at('served')).addMember({ uuid: UUID });
    const ops = /"operations_served"[^\n]*"address":"([^"]+)"/.exec(server.log())![1]!;
    const key = server.before.find((line) => line.startsWith('demo key: '))!.slice('demo key: '.length);
    const get = (path: string) => fetch(server.url + path, { headers: { 'X-API-Key': key } });
    const until = async (holds: () => Promise<boolean>) => {
      while (!(await holds())) await new Promise(setImmediate);
    };
    fill();
    try {
      await until(async () => (await (await fetch(`${ops}/metrics`)).text()).includes('zomma_data_full 1'));
      for (const address of [ops, server.url]) expect((await fetch(`${address}/ready`)).status).toBe(200);
      expect((await get('/api/v1/nodes/gex/SPY')).status).toBe(200);
      const refused = await fetch(`${server.url}/api/v1/auth/my-key?uuid=${UUID}`);
      expect([refused.status, await refused.json()]).toMatchObject([
        503,
        { code: 'unavailable', detail: expect.stringContaining('the disk is full') },
      ]);
    } finally {
      free();
    }
    expect((await fetch(`${server.url}/api/v1/auth/my-key?uuid=${UUID}`)).status).toBe(200);
    damage(at('served'));
    // Each body is read, so that one connection serves all requests.
    await until(async () => (await (await fetch(`${ops}/ready`)).text()).includes('database is damaged'));
    const readiness = await fetch(`${server.url}/ready`);
    expect([readiness.status, await readiness.text()]).toEqual([503, '{"status":"not_ready"}']);
    await until(async () => server.log().includes('"database_damaged"'));
  },
  60_000,
);
