import { afterAll, beforeAll, expect } from 'bun:test';
import { hasPostgres, PostgresServer, testWithPostgres, USER } from '../support/postgres.ts';
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

testWithPostgres(
  'check says that the primary waits for a synchronous standby, and not to start servers',
  async () => {
    await primary.query(
      `insert into zomma.replicas (name, holder, version, schema, place, ready, seen) values ('b', 'b', '1', 1, 0, true, now() - interval '1 minute')`,
      USER,
    );
    const usual = await check();
    expect([usual.of('standby'), usual.of('leader')[0]!.hint]).toEqual([[], expect.stringContaining('Start a server')]);
    await primary.query(`alter system set synchronous_standby_names = 'standby'`);
    await primary.query('select pg_reload_conf()');
    await primary.until(`select count(*) = 1 as holds from pg_stat_replication where sync_state = 'sync'`);
    expect((await check()).of('standby')).toEqual([]);
    const expected = {
      state: 'failure',
      message: 'nothing can be stored, because the primary waits for a synchronous standby (standby)',
      hint: expect.stringContaining("alter system set synchronous_standby_names = ''"),
    };
    const expectBlocked = async () => {
      const { code, of } = await check();
      expect([code, of('standby')]).toMatchObject([2, [expected]]);
      const hints = [...of('leader'), ...of('replica')].map(({ hint }) => hint);
      expect(hints).toHaveLength(2);
      for (const hint of hints) expect(hint).toStartWith('Mend the standby first');
    };
    // Attached, but silent: a session of this role waits.
    standby.freeze();
    const adding = users.command(dataDir, ['members', 'add', '--uuid', crypto.randomUUID()]);
    await primary.until(
      `select count(*) > 0 as holds from pg_stat_activity where wait_event = 'SyncRep' and query_start < now() - interval '2 s'`,
    );
    await expectBlocked();
    standby.thaw();
    await adding;
    await standby.stop();
    await primary.until('select count(*) = 0 as holds from pg_stat_replication');
    await expectBlocked();
    await primary.query('alter system reset synchronous_standby_names');
    await primary.query('select pg_reload_conf()');
    await standby.resume();
    await primary.until(`select count(*) = 1 as holds from pg_stat_replication where state = 'streaming'`);
    expect((await check()).of('standby')).toEqual([]);
  },
  60_000,
);

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
