import { beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder } from '../support/data-folder.ts';
import { addMember, PROGRAM, run } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** `zomma members export` from a data folder, and `zomma members import` into that of a running server with the same secret. */
const [UUID, OTHER] = ['7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90', '8c1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90'] as const;
const SECRET = crypto.getRandomValues(new Uint8Array(32));

/** Makes the folder of a server with the shared secret, or with another one. */
function folderWithSecret(dataDir: string, secret = SECRET): string {
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, 'secret'), secret, { mode: 0o600 });
  return dataDir;
}

const server = withServer(PROGRAM, (folder) => {
  folderWithSecret(join(folder, 'data'));
  return ['serve', '--port', '0', '--feed', 'simulated'];
});
const { dataDir: target, folder } = server;
const source = join(folder, 'source');
const file = join(folder, 'members.zomma');
beforeAll(() => void makeDataFolder(folderWithSecret(source)));

const zomma = (...args: string[]) => run(PROGRAM, args);
const exported = () => zomma('members', 'export', file, '--data-dir', source);
const imported = async (...args: string[]) =>
  JSON.parse((await zomma('members', 'import', file, '--json', '--data-dir', target, ...args)).stdout);
const statusOf = async (key: string) =>
  (await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': key } })).status;

test('members, a revocation and audit rows reach a running server; a second import changes nothing', async () => {
  const key = await addMember(PROGRAM, source, UUID);
  expect(await statusOf(key)).toBe(403);
  expect(await exported()).toMatchObject({ code: 0, stdout: `${file}: 1 member\n`, stderr: '' });
  expect([statSync(file).mode & 0o777, readFileSync(file).includes(UUID)]).toEqual([0o600, false]);
  expect(await imported()).toEqual({
    made_at: expect.stringMatching(/^\d{4}-.*Z$/),
    ...{ added: 1, changed: 0, revoked: 0, stays_revoked: 0, audit: 1 },
  });
  expect(await statusOf(key)).toBe(200);
  expect(await imported()).toMatchObject({ added: 0, changed: 0, revoked: 0, audit: 0 });

  await zomma('members', 'revoke', '--uuid', UUID, '--data-dir', source);
  await exported();
  const text = await zomma('members', 'import', file, '--sync', '--data-dir', target);
  expect(text.stdout).toMatch(/^members of \S+Z: 0 added, 0 changed, 1 revoked, audit entries: 1\n$/);
  expect(await statusOf(key)).toBe(403);
  const { audit } = JSON.parse((await zomma('audit', '--json', '--data-dir', target)).stdout);
  expect(audit.map(({ action }: { action: string }) => action)).toEqual([
    ...['member_added', 'members_imported', 'member_revoked', 'members_imported'],
  ]);

  await addMember(PROGRAM, source, UUID);
  await exported();
  expect((await zomma('members', 'import', file, '--sync', '--data-dir', target)).stdout).toContain(
    '1 active in the file, but revoked here',
  );
  expect(await statusOf(key)).toBe(403);
});

test('with --sync, a member who is not in the file loses access', async () => {
  const key = await addMember(PROGRAM, target, OTHER);
  await exported();
  expect(await imported()).toMatchObject({ revoked: 0 });
  expect(await statusOf(key)).toBe(200);
  expect(await imported('--sync')).toMatchObject({ revoked: 1 });
  expect(await statusOf(key)).toBe(403);
});

test('an export goes through a pipe', async () => {
  const pipe = `"$@" members export - --data-dir '${source}' | "$@" members import - --data-dir '${target}'`;
  const { code, stdout, stderr } = await run(['bash', '-c', `set -o pipefail; ${pipe}`, 'bash', ...PROGRAM], []);
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^members of /), '']);
});

test('what cannot be used is refused in one sentence, and nothing is imported', async () => {
  await exported();
  const before = (await zomma('members', 'list', '--json', '--data-dir', target)).stdout;
  const damaged = join(folder, 'damaged');
  writeFileSync(damaged, readFileSync(file).fill(0, 100, 101));
  const foreign = folderWithSecret(join(folder, 'foreign'), SECRET.with(0, SECRET[0]! ^ 1));
  makeDataFolder(foreign);
  const rotating = folderWithSecret(join(folder, 'rotating'));
  makeDataFolder(rotating);
  writeFileSync(join(rotating, 'secret.next'), SECRET, { mode: 0o600 });
  const mine = join(folder, 'mine.txt');
  writeFileSync(mine, 'not an export');
  for (const [args, message] of [
    [['import', damaged, '--data-dir', target], 'damaged is damaged, or is no export of members'],
    [['import', mine, '--data-dir', target], 'mine.txt is damaged, or is no export of members'],
    [['import', join(folder, 'none'), '--data-dir', target], 'there is no file'],
    [['import', file, '--data-dir', foreign], 'is sealed under another secret'],
    [['import', file, '--data-dir', join(folder, 'nowhere')], 'has no data of Zomma'],
    [['import', file, '--data-dir', rotating], 'the secret is being rotated'],
    [['export', file, '--data-dir', rotating], 'the secret is being rotated'],
    [['export', mine, '--data-dir', source], 'exists, and is no export of members'],
  ] as const) {
    const { code, stdout, stderr } = await zomma('members', ...args);
    expect([args, code, stdout, stderr]).toEqual([args, 1, '', expect.stringContaining(message)]);
  }
  expect(readFileSync(mine, 'utf8')).toBe('not an export');
  expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  expect((await zomma('members', 'list', '--json', '--data-dir', target)).stdout).toBe(before);
  expect((await zomma('members', 'list', '--json', '--data-dir', foreign)).stdout).toContain('"members":[]');
});
