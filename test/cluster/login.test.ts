import { describe, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { EngineAway, EngineRefused } from '../../src/cluster/engine-errors.ts';
import { type EngineOptions, openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl, type StoreUrl } from '../../src/cluster/store-url.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { freePort, PASSWORD, postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { testFolder } from '../support/test-folder.ts';

const at = testFolder();
const server = await postgresForTests();

/** Asks who is logged in. Returns the row, or the error if it is one for an operator. */
async function logIn(url: StoreUrl, options: Partial<EngineOptions> = {}) {
  const engine = openEngine(url, { replica: 'r1', connectMs: 1_000, ...options });
  const ask = engine.transaction(
    async (sql) =>
      (
        await sql`select user as name, application_name as application from pg_stat_activity where pid = pg_backend_pid()`
      )[0],
  );
  const answer = await ask.catch((error: unknown) => {
    if (error instanceof OperatorError) return error;
    throw error;
  });
  const { problem } = engine.state;
  await engine.close();
  return { answer, problem };
}

const parse = (text: string, password = PASSWORD) => parseStoreUrl(text, { PGPASSWORD: password });

describe('a login', () => {
  testWithPostgres('succeeds over IPv4, IPv6 and a socket, and names the replica', async () => {
    const hosts = [server.address, `[::1]:${server.port}`, `${encodeURIComponent(server.folder)}:${server.port}`];
    for (const host of hosts) {
      const { answer, problem } = await logIn(parse(`postgres://${USER}@${host}/${USER}`));
      expect({ host, answer, problem }).toEqual({
        host,
        answer: { name: USER, application: 'zomma/r1' },
        problem: null,
      });
    }
  });

  testWithPostgres('takes a new password from its file without a restart', async () => {
    await server.query(`create role rotated login password 'first'`);
    const path = at('password');
    writeFileSync(path, '*:*:*:rotated:first\n', { mode: 0o600 });
    await server.allow('rotated');
    const url = parseStoreUrl(`postgres://rotated@${server.address}/${USER}`, { PGPASSFILE: path });
    expect((await logIn(url)).answer).toMatchObject({ name: 'rotated' });
    await server.query(`alter role rotated password 'second'`);
    expect((await logIn(url)).answer).toMatchObject({ reason: 'password' });
    writeFileSync(path, '*:*:*:rotated:second\n');
    expect((await logIn(url)).answer).toMatchObject({ name: 'rotated' });
    Bun.spawnSync(['chmod', '644', path]);
    expect((await logIn(url)).answer).toMatchObject({
      reason: 'settings',
      message: expect.stringMatching(/^PGPASSFILE: other users/),
    });
  });
});

describe('an error is one sentence with a hint', () => {
  const refused = async (text: string, options?: Partial<EngineOptions>, password?: string) => {
    const { answer, problem } = await logIn(parse(text, password), options);
    if (!(answer instanceof OperatorError)) throw new Error(`logged in: ${text}`);
    expect(problem).toBe(answer.message);
    expect(answer.hint).toMatch(/^[A-Z].*\.$/);
    expect(Bun.inspect(answer)).not.toContain(PASSWORD);
    return answer;
  };
  const kinds = { EngineAway, EngineRefused };

  testWithPostgres('for each cause', async () => {
    await server.query('create role stranger login');
    await server.allow('unknown');
    const { address } = server;
    const causes = [
      ['EngineRefused', 'database', `postgres://${USER}@${address}/none`, `${address} has no database "none"`],
      [
        'EngineRefused',
        'login',
        `postgres://stranger@${address}/${USER}`,
        `${address} refuses the user "stranger": no pg_hba.conf entry for host`,
      ],
      [
        'EngineRefused',
        'tls',
        `postgres://${USER}@${address}/${USER}?sslmode=require`,
        `${address} does not offer TLS`,
      ],
      ['EngineAway', 'unreachable', `postgres://${USER}@127.0.0.1:${await freePort()}/${USER}`, 'cannot be reached'],
      [
        'EngineAway',
        'unreachable',
        `postgres://${USER}@no.such.host.invalid/${USER}`,
        'the name no.such.host.invalid has no address',
      ],
    ] as const;
    for (const [kind, reason, text, message] of causes) {
      const error = await refused(text);
      expect(error).toBeInstanceOf(kinds[kind]);
      expect(error).toMatchObject({ reason, message: expect.stringContaining(message) });
    }
    const url = `postgres://${USER}@${address}/${USER}`;
    const places =
      /ZOMMA_STORE_PASSWORD_FILE names, which a server reads when it starts, .* PGPASSFILE names, which each new connection reads\.$/;
    for (const [text, password, message] of [
      [url, 'wrong', `${address} refuses the password of the user "${USER}", or does not know the user`],
      [url, '', `${address} asks for the password of the user "${USER}", and none is given`],
      [`postgres://unknown@${address}/${USER}`, 'wrong', `password of the user "unknown", or does not know the user`],
    ] as const)
      expect(await refused(text, {}, password)).toMatchObject({
        reason: 'password',
        message: expect.stringContaining(message),
        hint: expect.stringMatching(places),
      });
    for (const [name, words] of [
      ['none', 'none'],
      ['my data', '"my data"'],
      ['$x', "'$x'"],
    ] as const)
      expect((await refused(`postgres://${USER}@${address}/${encodeURIComponent(name)}`)).hint).toBe(
        `Create it there as the user postgres: \`createdb -O ${USER} ${words}\`.`,
      );
    const old = await refused(`postgres://${USER}@${address}/${USER}`, { leastVersion: 990_000 });
    expect(old).toMatchObject({ reason: 'version', message: `${address} is older than Postgres 99` });
  });

  testWithPostgres('for a server that says nothing, within the time for a connection', async () => {
    await using silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    const { port } = silent.address() as { port: number };
    const startedAt = performance.now();
    const error = await refused(`postgres://${USER}@127.0.0.1:${port}/${USER}`, { connectMs: 200 });
    expect(error).toMatchObject({ reason: 'unreachable', message: `127.0.0.1:${port} does not answer within 0.2 s` });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });

  testWithPostgres('for several hosts, of which all fail', async () => {
    const port = await freePort();
    const error = await refused(`postgres://${USER}@127.0.0.1:${port},no.such.host.invalid/${USER}`);
    expect(error.message).toBe(
      `no primary among the hosts of --store: 127.0.0.1:${port} cannot be reached, the name no.such.host.invalid has no address`,
    );
  });
});
