import { beforeEach, describe, expect } from 'bun:test';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { PROGRAM, type Run, run } from '../support/process.ts';
import { SharedStoreUsers } from '../support/shared-store.ts';
import { testFolder } from '../support/test-folder.ts';

/** The files that all servers of a database must share: the secret, also while it is replaced, and the authority of `--tls internal`. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const at = testFolder();
const postgres = await postgresForTests();
let users: SharedStoreUsers;
let databases = 0;
beforeEach(async () => {
  if (!postgres) return;
  const name = `shared_${++databases}`;
  await postgres.query(`create database ${name} owner ${USER}`);
  users = new SharedStoreUsers(postgres, name);
});

const secretOf = (dataDir: string) => readFileSync(join(dataDir, 'secret')).toString('hex');
const copySecret = (from: string, to: string) => {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  copyFileSync(join(from, 'secret'), join(to, 'secret'));
};
const query = (statement: string) => postgres.query(statement, users.store.split('/').at(-1));
/** Returns the number of known secrets. */
const digests = async (where = 'true') =>
  (await query(`select digest from zomma.shared_files where file = 'secret' and ${where}`)).length;
/** Starts a server that is refused, and returns what it says. */
const refusal = async (dataDir: string, ...flags: string[]): Promise<string> => {
  const { code, stderr } = await run(
    PROGRAM,
    ['serve', '--port', '0', '--data-dir', dataDir, ...flags],
    undefined,
    users.env,
  );
  expect(code).toBe(1);
  return stderr.replace(/^\{.*\}\n/gm, '');
};
const keyIn = ({ code, stdout, stderr }: Run): string => {
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { api_key: string }).api_key;
};
const askFor = async (url: string, path: string, key?: string) => {
  const response = await fetch(`${url}${path}`, key === undefined ? {} : { headers: { 'X-API-Key': key } });
  await response.text();
  return response.status;
};

describe('a rotation of the secret', () => {
  const add = (dataDir: string) => users.command(dataDir, ['members', 'add', '--uuid', UUID, '--json']);
  const MY_KEY = `/api/v1/auth/my-key?uuid=${UUID}`;

  testWithPostgres('runs while two servers run, which are then restarted one after another', async () => {
    const [a, b] = [at('a'), at('b')];
    let first = await users.serve(a);
    copySecret(a, b);
    let second = await users.serve(b);
    try {
      const old = keyIn(await add(a));
      const admits = (key: string) =>
        Promise.all([first, second].map(({ url }) => askFor(url, '/api/v1/universe', key)));
      await users.untilCopied(b, (store) => store.members().length === 1);
      expect(await admits(old)).toEqual([200, 200]);
      const before = secretOf(a);
      expect((await users.command(a, ['secret', 'rotate', '--grace', '1h'])).code).toBe(0);
      expect(secretOf(a)).not.toBe(before);
      await users.untilCopied(b, (store) => store.members()[0]!.previousDigest !== null);
      // Both servers admit the old key. The one with the old file gives out no key.
      expect(await admits(old)).toEqual([200, 200]);
      expect([await askFor(first.url, MY_KEY), await askFor(second.url, MY_KEY)]).toEqual([200, 403]);
      const fresh = keyIn(await add(a));
      expect(fresh).not.toBe(old);
      // A server that ends meanwhile starts again with the old file.
      await second.stop('SIGTERM');
      second = await users.serve(b);
      expect(await admits(fresh)).toEqual([200, 200]);
      // The log does not tell to rotate again, which would replace all keys a second time.
      await second.loaded;
      const logged = second
        .log()
        .split('\n')
        .find((line) => line.includes('secret_foreign'))!;
      expect(JSON.parse(logged).hint).toContain('Copy the file "secret" (mode 600) from the data folder of the server');
      // A command there would make keys of the old secret.
      const stale = await add(b);
      expect(stale.stderr).toStartWith(
        'zomma: this server has another secret than the other servers of the database\n',
      );
      copySecret(a, b);
      expect(await askFor(second.url, MY_KEY)).toBe(200);
      await second.stop('SIGTERM');
      second = await users.serve(b);
      await first.stop('SIGTERM');
      first = await users.serve(a);
      expect(keyIn(await add(b))).toBe(fresh);
      expect(await admits(old)).toEqual([200, 200]);
      // The end of the grace.
      await query('update zomma.shared_files set until = clock_timestamp() where until is not null');
      const c = at('c');
      mkdirSync(c, { mode: 0o700 });
      writeFileSync(join(c, 'secret'), Buffer.from(before, 'hex'), { mode: 0o600 });
      expect(await refusal(c)).toBe(
        'zomma: this server has another secret than the other servers of the database\n' +
          '  Copy the file "secret" from the data folder of another server into that of this one (mode 600), and start again.\n',
      );
      rmSync(join(c, 'secret'));
      expect(await refusal(c)).toStartWith(
        `zomma: ${c} has no secret, and the other servers of the database have one\n`,
      );
      const { stderr } = await add(c);
      expect(stderr).toStartWith(`zomma: ${c} has no secret, and the other servers of the database have one\n`);
      expect(existsSync(join(c, 'secret'))).toBe(false);
    } finally {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    }
  });

  for (const hasMember of [true, false]) {
    const whose = hasMember ? 'with a member' : 'without members';
    testWithPostgres(`that was killed before or after its transaction is undone or completed, ${whose}`, async () => {
      const a = at('a');
      await (await users.serve(a)).stop('SIGTERM');
      const old = hasMember ? keyIn(await add(a)) : undefined;
      const before = secretOf(a);
      const restart = async (): Promise<void> => {
        const server = await users.serve(a);
        if (old !== undefined) expect(await askFor(server.url, MY_KEY)).toBe(200);
        expect(readdirSync(a)).not.toContain('secret.next');
        await server.stop('SIGTERM');
      };
      // Killed before the transaction: the new secret is only in its file.
      writeFileSync(join(a, 'secret.next'), crypto.getRandomValues(new Uint8Array(32)), { mode: 0o600 });
      await restart();
      expect([secretOf(a), await digests()]).toEqual([before, 1]);
      // Killed after the transaction: the new secret is that of the database, and the old one is still in its file.
      expect((await users.command(a, ['secret', 'rotate', '--grace', '1h'])).code).toBe(0);
      const after = secretOf(a);
      expect([after === before, await digests('until is null'), await digests()]).toEqual([false, 1, 2]);
      copyFileSync(join(a, 'secret'), join(a, 'secret.next'));
      writeFileSync(join(a, 'secret'), Buffer.from(before, 'hex'), { mode: 0o600 });
      await restart();
      expect(secretOf(a)).toBe(after);
      // The same by a command.
      copyFileSync(join(a, 'secret'), join(a, 'secret.next'));
      writeFileSync(join(a, 'secret'), Buffer.from(before, 'hex'), { mode: 0o600 });
      keyIn(await add(a));
      expect([secretOf(a), existsSync(join(a, 'secret.next'))]).toEqual([after, false]);
    });
  }

  const FILES: Readonly<Record<string, (path: string) => void>> = {
    'another secret': (path) => writeFileSync(path, new Uint8Array(32).fill(9), { mode: 0o600 }),
    'no secret': (path) => rmSync(path),
  };
  for (const [has, make] of Object.entries(FILES)) {
    testWithPostgres(`needs no old secret, so it mends a data folder that has ${has}`, async () => {
      const a = at('a');
      await (await users.serve(a)).stop('SIGTERM');
      const old = keyIn(await add(a));
      make(join(a, 'secret'));
      const said = [(await add(a)).stderr, await refusal(a)];
      for (const each of said)
        expect(each).toMatch(new RegExp(`^zomma: \\S+ (?:server )?has ${has}\\b.* the other servers`));
      expect((await users.command(a, ['secret', 'rotate', '--grace', '1h'])).code).toBe(0);
      await using server = await users.serve(a);
      expect(await askFor(server.url, MY_KEY)).toBe(200);
      expect(await askFor(server.url, '/api/v1/universe', old)).toBe(200);
    });
  }

  testWithPostgres('is not undone by a second one on another machine, and the last one counts', async () => {
    const [a, b] = [at('a'), at('b')];
    await using first = await users.serve(a);
    copySecret(a, b);
    await using second = await users.serve(b);
    keyIn(await add(a));
    const rotations = await Promise.all(
      [a, b].map((each) => users.command(each, ['secret', 'rotate', '--grace', '1h'])),
    );
    expect(rotations.map(({ code }) => code)).toEqual([0, 0]);
    expect([await digests('until is null'), await digests()]).toEqual([1, 3]);
    // The members have the keys of the secret that the database knows as the present one.
    const outcomes = await Promise.all([a, b].map(add));
    expect(outcomes.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    const winner = outcomes[0]!.code === 0 ? a : b;
    await users.untilCopied(winner, (store) => store.members()[0]!.previousDigest !== null);
    const url = winner === a ? first.url : second.url;
    expect(await askFor(url, MY_KEY)).toBe(200);
  });
});

describe('--tls internal', () => {
  const TLS = ['--tls', 'internal'];

  testWithPostgres('needs the authority that the first server has registered', async () => {
    const [a, b] = [at('a'), at('b')];
    await using first = await users.serve(a, ...TLS);
    const ca = readFileSync(join(a, 'tls/authority.pem'), 'utf8');
    copySecret(a, b);
    const NONE = `zomma: ${b} has no certificate authority, and the other servers of the database have one\n`;
    const HINT =
      '  Copy the folder "tls" from the data folder of another server into that of this one, without the file of the server, and start again.\n';
    expect(await refusal(b, ...TLS)).toBe(NONE + HINT);
    expect(existsSync(join(b, 'tls'))).toBe(false);
    // An authority of its own.
    await makeAuthority(at('alone'));
    cpSync(at('alone', 'tls'), join(b, 'tls'), { recursive: true });
    rmSync(join(b, 'tls/server.pem'));
    expect(await refusal(b, ...TLS)).toBe(
      `zomma: this server has another certificate authority than the other servers of the database\n${HINT}`,
    );
    expect(readdirSync(join(b, 'tls')).toSorted()).toEqual(['authority.key', 'authority.pem']);
    // The shared one.
    rmSync(join(b, 'tls'), { recursive: true });
    cpSync(join(a, 'tls'), join(b, 'tls'), { recursive: true });
    rmSync(join(b, 'tls/server.pem'));
    await using second = await users.serve(b, ...TLS);
    for (const { url } of [first, second])
      expect(await (await fetch(`${url}/health`, { tls: { ca } })).text()).toBe('{"status":"online"}');
  });

  /** Makes a folder `tls` as a server alone does. */
  async function makeAuthority(dataDir: string): Promise<void> {
    const { ensureInternalTls } = await import('../../src/http/internal-tls.ts');
    mkdirSync(dataDir, { mode: 0o700 });
    await ensureInternalTls({ dataDir, host: '127.0.0.1', allowedHosts: undefined }, Date.now());
  }
});
