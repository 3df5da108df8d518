import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder } from '../support/data-folder.ts';
import { addMember, PROGRAM, run, startServer } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** Backups of a running server, restored and compared. */
const ROUNDS = 4;
const server = withServer(PROGRAM, () => ['start', '--port', '0', '--past', 'on', '--ops', '127.0.0.1:0']);
const at = (name: string) => join(server.folder, name);
const zomma = (...args: string[]) => run(PROGRAM, args);
const membersOf = async (dataDir: string) =>
  JSON.parse((await zomma('members', 'list', '--json', '--data-dir', dataDir)).stdout).members as { uuid: string }[];

beforeAll(() => writeFileSync(at('pass'), 'correct horse battery\n', { mode: 0o600 }));

test('each backup under ingest has what was committed before it, and is restored to it', async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const uuid = crypto.randomUUID();
    expect(await zomma('members', 'add', '--uuid', uuid, '--data-dir', at('data'))).toMatchObject({ code: 0 });
    const made = await zomma('backup', at(`b${i}`), '--json', '--data-dir', at('data'));
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { rows, schema, version } = JSON.parse(made.stdout);
    expect([rows.members, schema > 0, version]).toEqual([i + 2, true, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    expect(await zomma('restore', at(`b${i}`), '--unverified', '--data-dir', at(`r${i}`))).toMatchObject({ code: 0 });
    expect((await membersOf(at(`r${i}`))).map((each) => each.uuid)).toContain(uuid);
    for (const name of readdirSync(at(`b${i}`))) expect(statSync(join(at(`b${i}`), name)).mode & 0o077).toBe(0);
    expect(existsSync(join(at(`b${i}`), 'secret.encrypted'))).toBe(false);
  }
}, 120_000);

test('with the secret, the keys of members work on the restored server; without it, the command says what is missing', async () => {
  const uuid = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
  const key = await addMember(PROGRAM, at('data'), uuid);
  const options = ['--with-secret', '--passphrase-file', at('pass')];
  expect(await zomma('backup', at('full'), ...options, '--data-dir', at('data'))).toMatchObject({ code: 0 });
  for (const name of readdirSync(at('full')))
    expect(readFileSync(join(at('full'), name)).includes(readFileSync(join(at('data'), 'secret')))).toBe(false);
  const none = await zomma('restore', at('full'), '--data-dir', at('locked'));
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('is encrypted') });
  writeFileSync(at('wrong'), 'another passphrase', { mode: 0o600 });
  const wrong = await zomma('restore', at('full'), '--passphrase-file', at('wrong'), '--data-dir', at('locked2'));
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('does not open') });
  const restored = await zomma('restore', at('full'), '--passphrase-file', at('pass'), '--data-dir', at('moved'));
  expect(restored).toMatchObject({ code: 0 });
  await using moved = await startServer(PROGRAM, ['serve', '--port', '0', '--data-dir', at('moved')]);
  const answer = await fetch(`${moved.url}/api/v1/account`, { headers: { 'X-API-Key': key } });
  expect(answer.status).toBe(200);
  const bare = await zomma('restore', at('b0'), '--unverified', '--data-dir', at('bare'));
  expect(bare.stdout).toContain('Put the file "secret" of the earlier data folder');
}, 120_000);

describe('a restore', () => {
  test('is refused into a folder with data, and into that of a running server', async () => {
    expect(await zomma('restore', at('b0'), '--data-dir', at('r0'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has data already'),
    });
    expect(await zomma('restore', at('b0'), '--data-dir', at('data'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`process ${server.pid} serves`),
    });
  }, 30_000);

  const flipped = (name: string, offset: number) => {
    const path = join(at('b1'), name);
    const bytes = readFileSync(path);
    bytes[offset]! ^= 0xff;
    writeFileSync(path, bytes);
  };
  test.each([
    [
      'a database with one other byte',
      () => flipped('zomma.sqlite', 9_000),
      /zomma\.sqlite is not the file that was backed up/,
    ],
    [
      'a database cut short',
      () =>
        writeFileSync(join(at('b1'), 'zomma.sqlite'), readFileSync(join(at('b1'), 'zomma.sqlite')).subarray(0, 8_192)),
      /has 8192 bytes, and not/,
    ],
    ['no database', () => rmSync(join(at('b1'), 'zomma.sqlite')), /zomma\.sqlite is missing/],
    ['no manifest', () => rmSync(join(at('b1'), 'manifest.json')), /is no backup/],
  ])('of a backup with %s is refused, and so is its rehearsal', async (_, damage, message) => {
    damage();
    for (const command of [
      ['restore', at('b1'), '--data-dir', at('new')],
      ['backup', 'verify', at('b1')],
    ])
      expect(await zomma(...command)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(existsSync(at('new/zomma.sqlite'))).toBe(false);
  });

  test('is rehearsed', async () => {
    const rehearsed = await zomma('backup', 'verify', at('b2'));
    expect(rehearsed).toMatchObject({ code: 0, stdout: expect.stringContaining('whole') });
  }, 30_000);
});

describe('who made a backup', () => {
  const sha256 = (path: string) => new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex');
  /** Copies a backup, changes its database, and gives the manifest the digest and the rows of the changed one. */
  const forged = (name: string, sql: readonly string[]) => {
    cpSync(at('b2'), at(name), { recursive: true });
    const [path, manifestPath] = [join(at(name), 'zomma.sqlite'), join(at(name), 'manifest.json')];
    const db = new Database(path);
    for (const each of sql) db.run(each);
    const { members } = db.query('SELECT count(*) AS members FROM members').get() as { members: number };
    db.run('PRAGMA journal_mode = DELETE');
    db.close(true);
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    manifest.files['zomma.sqlite'] = { bytes: statSync(path).size, sha256: sha256(path) };
    manifest.rows.members = members;
    writeFileSync(manifestPath, JSON.stringify(manifest));
  };
  const digest = new Bun.CryptoHasher('sha256').update('ZOMMA_EEEEEEEEEEEEEEEE').digest('hex');
  const MEMBER = `INSERT INTO members (uuid, tier, status, key_digest, account)
    VALUES ('00000000-0000-4000-8000-00000000000e', 'pro', 'active', '${digest}', 'eeeeeeeeeeeeeeee')`;

  test('is proved by the secret of the folder or by the one in the backup, and by nothing else', async () => {
    forged('own-member', [MEMBER]);
    for (const [backup, proof, origin] of [
      ['b2', ['--data-dir', at('data')], 'verified'],
      ['b2', ['--data-dir', at('none')], 'not verified'],
      ['full', ['--passphrase-file', at('pass')], 'verified'],
      ['own-member', ['--data-dir', at('data')], 'not verified'],
    ] as const) {
      const { code, stdout } = await zomma('backup', 'verify', at(backup), ...proof);
      expect([backup, code, stdout]).toEqual([backup, 0, expect.stringContaining(`whole, origin ${origin}. Made`)]);
    }
    const into = (folder: string, backup: string, ...more: string[]) =>
      zomma('restore', at(backup), '--data-dir', at(folder), ...more);
    expect(await into('n1', 'own-member')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing proves'),
    });
    expect(existsSync(at('n1'))).toBe(false);
    mkdirSync(at('n2'), { mode: 0o700 });
    cpSync(at('data/secret'), at('n2/secret'));
    expect(await into('n2', 'own-member')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the secret did not sign it'),
    });
    expect(await into('n2', 'b2')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('no secret') });
    await into('n1', 'own-member', '--unverified');
    const { stdout } = await zomma('audit', '--data-dir', at('n1'));
    expect(stdout).toMatch(/restored .*without the secret, origin not verified, members: \d+/);
    expect((await zomma('audit', '--data-dir', at('n2'))).stdout).not.toContain('not verified');
  }, 60_000);

  test.each([
    [
      'a trigger',
      "CREATE TRIGGER t AFTER UPDATE ON members BEGIN UPDATE members SET status = 'active'; END",
      'trigger t',
    ],
    ['a view', 'CREATE VIEW v AS SELECT 1', 'view v'],
    ['a table', 'CREATE TABLE w (a)', 'table w'],
    ['an index', 'CREATE INDEX x ON members (tier)', 'index x'],
  ])('does not matter if it has %s that Zomma does not make', async (kind, sql, named) => {
    const name = kind.replace(' ', '-');
    forged(name, [sql]);
    for (const command of [
      ['restore', at(name), '--unverified', '--data-dir', at('new')],
      ['backup', 'verify', at(name)],
    ]) {
      const { code, stderr } = await zomma(...command);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`something that Zomma does not make: ${named}`)]);
    }
  });

  test.each([
    ['{"files":{"zomma.sqlite":null}}', 'is no manifest of this version'],
    ['{"format":1,"files":{"zomma.sqlite":null}}', 'is no manifest of this version'],
    ['{"format":1,"schema":13,"rows":{},"files":{},"version":"1","made_at":"2026"}', 'is no manifest'],
    ['null', 'is no manifest of this version'],
    ['[', 'is no backup'],
  ])('a manifest %s is refused in words', async (text, message) => {
    mkdirSync(at('odd'), { recursive: true });
    writeFileSync(at('odd/manifest.json'), text);
    const { code, stderr } = await zomma('backup', 'verify', at('odd'));
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain('    at ');
  });

  test('text of a manifest cannot change the terminal', async () => {
    cpSync(at('b2'), at('escape'), { recursive: true });
    const path = at('escape/manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...manifest, version: '\u001b]0;title\u0007' }));
    const { code, stdout, stderr } = await zomma('backup', 'verify', at('escape'));
    expect([code, stdout + stderr]).toEqual([1, expect.not.stringContaining('\u001b')]);
  });
});

test('a backup never replaces a folder, and the metrics of the server know the last one', async () => {
  mkdirSync(at('taken'));
  expect(await zomma('backup', at('taken'), '--data-dir', at('data'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('exists already'),
  });
  const ops = /"operations_served"[^\n]*"address":"([^"]+)"/.exec(server.log())![1]!;
  const text = await (await fetch(`${ops}/metrics`)).text();
  const seconds = Number(/^zomma_last_backup_timestamp_seconds (\S+)/m.exec(text)![1]);
  // The moment is that of the data, before the copy.
  expect(seconds).toBe(Date.parse(JSON.parse(readFileSync(at('full/manifest.json'), 'utf8')).made_at) / 1000);
}, 30_000);

test('--every makes one after the other and keeps the newest', async () => {
  const data = makeDataFolder(at('small'));
  mkdirSync(at('series'));
  const child = Bun.spawn([...PROGRAM, 'backup', at('series'), '--every', '1s', '--keep', '2', '--data-dir', data], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.getReader();
  let read = '';
  while (read.split('removed').length < 3) read += new TextDecoder().decode((await reader.read()).value);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  expect(readdirSync(at('series')).filter((name) => name !== 'lock').length).toBeWithin(2, 4);
}, 30_000);
