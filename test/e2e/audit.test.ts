import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditTable } from '../../src/store/audit-table.ts';
import { SCHEMA } from '../../src/store/folder/upgrade.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { NEXT_VERSION, PROGRAM, run } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** What the audit trail and the log tell about changes to members and keys, by commands and by requests. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const server = withServer(PROGRAM, () => ['serve', '--port', '0', '--trusted-proxies', '127.0.0.1', '--my-key', 'any']);
const at = (name: string) => join(server.folder, name);

const zomma = async (args: readonly string[], dataDir = at('data'), program = PROGRAM) => {
  // The name of the actor does not come from the environment, which the user chooses.
  const { code, stdout, stderr } = await run(['env', 'USER=somebody', ...program], [...args, '--data-dir', dataDir]);
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
};
const trail = async (...args: string[]) =>
  JSON.parse(await zomma(['audit', '--json', ...args])).audit as Record<string, string | null>[];
const logged = () =>
  server
    .log()
    .split('\n')
    .filter((line) => line.includes('"message":"audited"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const untilLogged = async (count: number) => {
  while (logged().length < count) await Bun.sleep(10);
};

const systemName = Bun.spawnSync(['id', '-un']).stdout.toString().trim();
const OPERATOR = `${systemName} (uid ${process.geteuid!()})`;

test('every change is one row with its time, actor, account and result, and one line in the log of the server', async () => {
  const { api_key: key } = JSON.parse(await zomma(['members', 'add', '--uuid', UUID, '--tier', 'pro', '--json']));
  await zomma(['members', 'link', '--uuid', UUID, '--telegram', 'a-handle', '--routing-radar', 'off']);
  const issued = await fetch(`${server.url}/api/v1/auth/my-key?uuid=${UUID}`, {
    headers: { 'X-Forwarded-For': '203.0.113.7' },
  });
  expect(issued.status).toBe(200);
  await zomma(['members', 'revoke', '--uuid', UUID]);
  const refused = await run(PROGRAM, ['members', 'revoke', '--uuid', crypto.randomUUID(), '--data-dir', at('data')]);
  expect(refused.code).toBe(1);

  const entries = await trail();
  const account = entries[1]!.account!;
  expect(account).toMatch(/^[\da-f]{16}$/);
  const by = (action: string, more: object = {}) => ({
    ...{ at: expect.stringMatching(/^20\d\d-.*Z$/), actor: OPERATOR, client: null, action },
    ...{ account, result: 'done', detail: null, ...more },
  });
  const expected = [
    by('secret_created', { account: null }),
    by('member_added', { detail: 'tier pro, does not expire' }),
    by('telegram_linked', { detail: 'routing_1dte on, routing_radar off' }),
    by('key_issued', { actor: `account ${account}`, client: '203.0.113.7' }),
    by('member_revoked'),
    by('member_revoked', { account: null, result: 'not_found' }),
  ];
  expect(entries).toEqual(expected);

  await untilLogged(expected.length);
  expect(logged()).toMatchObject(
    expected.map(({ action, actor, result }) => ({ level: 'INFO', action, actor, result })),
  );
  expect(logged()[3]).toMatchObject({ client: '203.0.113.7', account });
  const told = server.log() + JSON.stringify(entries) + (await zomma(['audit']));
  for (const hidden of [UUID, key, 'a-handle']) expect(told).not.toContain(hidden);
}, 60_000);

test('copies of the secret, and changes that were made while no server ran, are in the log of the next server', async () => {
  await server.stop('SIGTERM');
  writeFileSync(at('pass'), 'a long passphrase\n', { mode: 0o600 });
  await zomma(['backup', at('plain')]);
  await zomma(['backup', at('full'), '--with-secret', '--passphrase-file', at('pass')]);
  await zomma(['restore', at('full'), '--passphrase-file', at('pass')], at('restored'));
  const before = (await trail()).length;
  await server.restart();
  await untilLogged(1);
  expect(logged()).toMatchObject([{ action: 'secret_backed_up', actor: OPERATOR, result: 'done' }]);
  const restored = JSON.parse(await zomma(['audit', '--json', '--since', '1h'], at('restored'))).audit;
  expect(restored.slice(-2)).toMatchObject([
    { action: 'secret_backed_up' },
    { action: 'restored', detail: expect.stringMatching(/^the backup of 20.*Z, with the secret, members: 1$/) },
  ]);
  expect(await trail('--since', '2100-01-01')).toEqual([]);
  expect((await trail('--since', '1d')).length).toBe(before);
}, 60_000);

test('an upgrade and its undoing are recorded, the latter in the database that is back and in the one that is kept', async () => {
  makeDataFolder(at('early'));
  await zomma(['upgrade'], at('early'), NEXT_VERSION);
  const upgraded = { action: 'upgraded', actor: OPERATOR, detail: `schema ${SCHEMA} to ${SCHEMA + 1}` };
  expect(JSON.parse(await zomma(['audit', '--json'], at('early'), NEXT_VERSION)).audit).toMatchObject([upgraded]);
  await zomma(['upgrade', '--back'], at('early'), NEXT_VERSION);
  const undone = { action: 'upgrade_undone', actor: OPERATOR, detail: `back to schema ${SCHEMA}` };
  expect(JSON.parse(await zomma(['audit', '--json'], at('early'))).audit).toMatchObject([undone]);
  const kept = new Database(at(`early/zomma.sqlite.schema-${SCHEMA + 1}`), { readonly: true, strict: true });
  expect(auditTable(kept).auditSince(0)).toMatchObject([upgraded, undone]);
  kept.close(true);
}, 60_000);

test.each(['yesterday', '7y'])('--since %s is refused', async (since) => {
  const { code, stderr } = await run(PROGRAM, ['audit', '--since', since, '--data-dir', at('data')]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('is not a time')]);
});
