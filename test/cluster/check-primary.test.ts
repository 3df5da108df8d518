import { afterAll, beforeAll, expect } from 'bun:test';
import { hasPostgres, PostgresServer, testWithPostgres } from '../support/postgres.ts';
import { SharedStoreUsers } from '../support/shared-store.ts';
import { folderForTests } from '../support/test-folder.ts';

/** What `zomma check` says about the primary of servers that share a database, and about its standby. */

interface Outcome {
  readonly of: string;
  readonly state: string;
  readonly message: string;
  readonly hint?: string;
}

const folder = folderForTests();
const dataDir = `${folder}/a`;
let primary: PostgresServer;
let standby: PostgresServer;
let users: SharedStoreUsers;
beforeAll(async () => {
  if (!hasPostgres) return;
  primary = await PostgresServer.start();
  standby = await primary.standby();
  users = new SharedStoreUsers({ address: `${standby.address},${primary.address}` });
  await (await users.serve(dataDir)).stop('SIGTERM');
}, 60_000);
afterAll(async () => {
  await standby?.[Symbol.asyncDispose]();
  await primary?.[Symbol.asyncDispose]();
});

async function check(): Promise<{ code: number; of: (subject: string) => Outcome[] }> {
  const { code, stdout } = await users.command(dataDir, ['check', '--quick', '--port', '0', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: Outcome[] };
  return { code, of: (subject) => checks.filter(({ of }) => of === subject) };
}

testWithPostgres('check names a second primary, and says which one to stop', async () => {
  expect((await check()).of('primary')).toMatchObject([{ state: 'ok' }]);
  await standby.promote();
  const { code, of } = await check();
  expect([code, of('primary')]).toEqual([
    1,
    [
      { of: 'primary', state: 'ok', message: expect.stringContaining(`${standby.address}, timeline 2, `) },
      {
        of: 'primary',
        state: 'warning',
        message: expect.stringContaining(`${primary.address} is a primary, too, with timeline 1: `),
        hint: expect.stringContaining(`Stop ${primary.address}, and make it a standby of ${standby.address} (`),
      },
    ],
  ]);
});
