import { expect } from 'bun:test';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeChain } from '../support/chain-file.ts';
import { postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { PROGRAM, run } from '../support/process.ts';
import { SharedStoreUsers } from '../support/shared-store.ts';
import { testFolder } from '../support/test-folder.ts';

/** Which servers a database admits, and when a proxy should send them requests. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const at = testFolder();
const postgres = await postgresForTests();

testWithPostgres(
  'a server without --feed is refused where others have real feeds; without trust, none is ready',
  async () => {
    const users = new SharedStoreUsers(postgres);
    const [a, b, drop] = [at('a'), at('b'), at('drop')];
    mkdirSync(drop);
    writeChain(join(drop, 'SPY.csv'), 'SPY');
    await using server = await users.serve(a, '--feed', `files:${drop}`, '--trust-members', '2s');
    await server.loaded;
    mkdirSync(b, { mode: 0o700 });
    copyFileSync(join(a, 'secret'), join(b, 'secret'));
    const refused = await run(PROGRAM, ['serve', '--port', '0', '--data-dir', b], undefined, users.env);
    expect(refused.code).toBe(1);
    expect(refused.stderr.replace(/^\{.*\}\n/gm, '')).toBe(
      'zomma: the database has market data of real feeds, and this server would add a simulated market\n' +
        '  Give it the same --feed as the other servers, or a database of its own.\n',
    );

    const { stdout } = await users.command(a, ['members', 'add', '--uuid', UUID, '--json']);
    const headers = { 'X-API-Key': JSON.parse(stdout).api_key };
    const statusOf = async (path: string) => (await fetch(server.url + path, { headers })).status;
    const statuses = () => Promise.all(['/ready', '/api/v1/nodes/gex/SPY'].map(statusOf));
    const until = async (wanted: readonly number[]) => {
      while (!Bun.deepEquals(await statuses(), wanted)) await Bun.sleep(20);
    };
    await until([200, 200]);
    await postgres.stop();
    // The server answers on for two seconds.
    expect(await statuses()).toEqual([200, 200]);
    await until([503, 503]);
    await postgres.resume();
    await until([200, 200]);
  },
);
