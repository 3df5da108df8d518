import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { addMember, PROGRAM, run, startServer, withFolder } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** A server that gives keys to the operator terminal alone: by its address and by a token. */
const TOKEN = 'a-token-of-the-operator-terminal';
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const TERMINAL = '203.0.113.7';
let key: string;
const server = withServer(
  PROGRAM,
  () => ['serve', '--port', '0', '--trusted-proxies', '127.0.0.1', '--my-key-from', '203.0.113.0/24'],
  { ZOMMA_MY_KEY_TOKEN: TOKEN },
);
beforeAll(async () => {
  key = await addMember(PROGRAM, server.dataDir, UUID);
});

const ask = (uuid: string, client: string, token?: string) =>
  fetch(`${server.url}/api/v1/auth/my-key?uuid=${uuid}`, {
    headers: { 'X-Forwarded-For': client, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
  });
const visible = async (response: Response) => {
  const { request_id: _id, ...problem } = (await response.json()) as Record<string, unknown>;
  return { problem, challenge: response.headers.get('www-authenticate'), type: response.headers.get('content-type') };
};

test('the terminal gets the key of a member, and nobody else learns whether a UUID is one', async () => {
  expect(await (await ask(UUID, TERMINAL, TOKEN)).json()).toEqual({ status: 'authorized', api_key: key });
  const cases: readonly (readonly [string, string | undefined, number, string])[] = [
    ['198.51.100.4', TOKEN, 403, 'client_foreign'],
    ['198.51.100.4', undefined, 403, 'client_foreign'],
    [TERMINAL, undefined, 401, 'token_refused'],
    [TERMINAL, 'another-token-of-the-same-kind..', 401, 'token_refused'],
  ];
  for (const [client, token, status, code] of cases) {
    const answers = await Promise.all([UUID, crypto.randomUUID(), 'no-uuid'].map((uuid) => ask(uuid, client, token)));
    expect(answers.map((each) => each.status)).toEqual([status, status, status]);
    const [member, ...others] = await Promise.all(answers.map(visible));
    expect(member).toMatchObject({ problem: { status, code }, type: 'application/problem+json' });
    expect(member!.challenge).toBe(status === 401 ? 'Bearer realm="zomma"' : null);
    for (const other of others) expect(other).toEqual(member!);
  }
});

test('foreign networks cannot use up the requests of the terminal', async () => {
  const foreign = Array.from({ length: 256 }, (_, i) => `2001:db8:0:${i.toString(16)}::1`);
  const statuses = new Set<number>();
  for (let round = 0; round < 16; round++) {
    const answers = await Promise.all(foreign.map((client) => ask(crypto.randomUUID(), client)));
    for (const { status } of answers) statuses.add(status);
    const terminal = await Promise.all(Array.from({ length: 20 }, () => ask(UUID, TERMINAL, TOKEN)));
    expect(terminal.map(({ status }) => status)).toEqual(terminal.map(() => 200));
  }
  expect([...statuses].toSorted()).toEqual([403, 429]);
});

test('refused clients are limited and logged by their address, and the terminal is not affected', async () => {
  const tries = await Promise.all(Array.from({ length: 400 }, () => ask(crypto.randomUUID(), '203.0.113.9', 'x')));
  const statuses = tries.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(statuses.filter((each) => each === 401).length).toBeWithin(300, 350);
  expect((await ask(UUID, TERMINAL, TOKEN)).status).toBe(200);
  const lines = server.log().split('\n');
  const refused = lines.filter((line) => line.includes('"key_refused"') && line.includes('"203.0.113.9"'));
  expect(refused).toHaveLength(20);
  expect(JSON.parse(refused[0]!)).toMatchObject({ route: '/api/v1/auth/my-key', code: 'token_refused' });
  expect(server.log()).not.toContain(TOKEN);
  expect(server.log()).not.toContain(UUID);
});

test('a token that is too short stops the start, and the message does not repeat it', async () => {
  const { code, stderr } = await run(
    ['env', 'ZOMMA_MY_KEY_TOKEN=short-secret', ...PROGRAM],
    ['serve', '--port', '0', '--data-dir', join(server.folder, 'other')],
  );
  expect([code, stderr]).toEqual([78, expect.stringContaining('ZOMMA_MY_KEY_TOKEN is not a token')]);
  expect(stderr).not.toContain('short-secret');
});

test("without settings, only clients of this machine get keys, and the link of a revoked member is a stranger's", async () => {
  await withFolder(async (folder) => {
    const args = ['serve', '--port', '0', '--data-dir', folder, '--trusted-proxies', '127.0.0.1'];
    await using local = await startServer(PROGRAM, args);
    const own = await addMember(PROGRAM, folder, UUID);
    const get = async (path: string, client?: string) => {
      const headers = client === undefined ? {} : { 'X-Forwarded-For': client };
      return (await fetch(`${local.url}/api/v1/auth/${path}?uuid=${UUID}`, { headers })).json();
    };
    expect(await get('my-key')).toEqual({ status: 'authorized', api_key: own });
    expect(await get('my-key', '10.0.0.9')).toMatchObject({ status: 403, code: 'client_foreign' });
    const command = (...more: string[]) => run(PROGRAM, ['members', ...more, '--uuid', UUID, '--data-dir', folder]);
    await command('link', '--telegram', '5551234567');
    const linked = await get('telegram-status', '10.0.0.9');
    await command('revoke');
    const stranger = {
      status: 'unlinked',
      telegram_id: '',
      routing_1dte: 'DISABLED',
      routing_radar: 'DISABLED',
      last_ping: '',
    };
    expect([linked, await get('telegram-status')]).toEqual([expect.objectContaining({ status: 'linked' }), stranger]);
  });
});
