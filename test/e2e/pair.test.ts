import { describe, expect } from 'bun:test';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { makeCertificate } from '../support/certificate.ts';
import { eventsOf } from '../support/event-stream.ts';
import { testWithProgram } from '../support/needs.ts';
import { addMember, PROGRAM, ROOT, run, type Server, startLoaded } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';

/** Two servers with the same inputs behind a proxy, as docs/scaling.md configures it. */
const PAGE = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const at = testFolder();

interface Proxy {
  readonly program: 'haproxy' | 'nginx';
  /** Returns the file of the proxy, from the block of the page, and the arguments that check it and that run it. */
  readonly file: (block: string) => string;
  readonly checks: (file: string) => readonly string[];
  readonly runs: (file: string) => readonly string[];
}

const PROXIES: Readonly<Record<Proxy['program'], Proxy>> = {
  haproxy: {
    program: 'haproxy',
    file: (block) => block.replace('/etc/haproxy/zomma.pem', at('pair.pem')),
    checks: (file) => ['-c', '-f', file],
    runs: (file) => ['-db', '-f', file],
  },
  nginx: {
    program: 'nginx',
    file: (block) =>
      `daemon off; pid ${at('nginx.pid')}; error_log stderr; events {} http { access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${at(name)};`).join(' ')}\n${block
        .replace('/etc/nginx/zomma.pem', at('localhost.pem'))
        .replace('/etc/nginx/zomma.key', at('localhost.key'))}\n}`,
    checks: (file) => ['-t', '-q', '-c', file],
    runs: (file) => ['-c', file],
  },
};
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Starts the two servers, which have one secret, and carries the member of the first one to the second one. */
async function startPair(): Promise<{ servers: readonly Server[]; key: string }> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const args = ['serve', '--port', '0', '--behind-proxy', '--trusted-proxies', '127.0.0.1', '--rate-limit', '9000/h'];
  const servers = await Promise.all(
    ['a', 'b'].map((name) => {
      mkdirSync(at(name), { mode: 0o700 });
      writeFileSync(at(name, 'secret'), secret, { mode: 0o600 });
      return startLoaded(PROGRAM, [...args, '--feed', 'simulated', '--data-dir', at(name)]);
    }),
  );
  const key = await addMember(PROGRAM, at('a'), UUID);
  const members = (command: string, folder: string) =>
    run(PROGRAM, ['members', command, at('members'), '--data-dir', at(folder)]);
  expect((await members('export', 'a')).code).toBe(0);
  expect((await members('import', 'b')).code).toBe(0);
  return { servers, key };
}

/** Starts the proxy of the page before these servers, and waits until it accepts connections. */
async function startProxy({ program, file, checks, runs }: Proxy, servers: readonly Server[]) {
  const { cert, key } = makeCertificate(at(''));
  writeFileSync(at('pair.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  const port = await freePort();
  const [a, b] = servers.map(({ url }) => new URL(url).host);
  const block = new RegExp(`\`\`\`${program}\n([\\s\\S]*?)\`\`\``).exec(PAGE)![1]!;
  const configured = file(block)
    .replace(/(bind|listen) :?443/, `$1 127.0.0.1:${port}`)
    .replace('10.0.0.11:8080', a!)
    .replace('10.0.0.12:8080', b!);
  const path = at(`${program}.conf`);
  writeFileSync(path, configured);
  expect(await run([program], checks(path))).toMatchObject({ code: 0 });
  writeFileSync(at('wrong.conf'), configured.replace('hash', 'hush'));
  expect((await run([program], checks(at('wrong.conf')))).code).not.toBe(0);
  const child = Bun.spawn([program, ...runs(path)], { stdout: 'ignore', stderr: Bun.file(at('proxy.log')) });
  const url = `https://localhost:${port}`;
  const stop = async () => {
    child.kill('SIGTERM');
    await child.exited;
  };
  while (child.exitCode === null && (await fetch(`${url}/health`, TRUSTED).catch(() => undefined))?.status !== 200)
    await Bun.sleep(20);
  return { url, [Symbol.asyncDispose]: stop };
}

const TRUSTED = { tls: { rejectUnauthorized: false } };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The ways to lose a server. nginx without a subscription does not ask `/ready`. */
describe.each([
  ['haproxy', 'loses its database'],
  ['haproxy', 'is killed'],
  ['nginx', 'is killed'],
] as const)('%s', (program, loss) => {
  testWithProgram(program)(
    `${program} sends an account to one server, and to the other one when that server ${loss}`,
    async () => {
      const { servers, key } = await startPair();
      const [a, b] = servers as [Server, Server];
      await using _a = a;
      await using _b = b;
      await using front = await startProxy(PROXIES[program], servers);
      const headers = { 'X-API-Key': key };
      const ask = (path: string, from = front.url, fields: Record<string, string> = headers) =>
        fetch(from + path, { ...TRUSTED, headers: fields });
      /** The tokens that the account has left at a server. This request takes one. */
      const left = async (from: string) =>
        Number(/r=(\d+)/.exec((await ask('/api/v1/universe', from)).headers.get('ratelimit')!)![1]);

      // The key goes to the same server in both headers, and counts there alone.
      const bearer = { Authorization: `Bearer ${key}` };
      for (const fields of [headers, bearer])
        for (let i = 0; i < 20; i++) expect((await ask('/api/v1/universe', front.url, fields)).status).toBe(200);
      const both = await Promise.all([left(a.url), left(b.url)]);
      // A token comes back in 0.4 s.
      expect([Math.min(...both) < 8975, Math.max(...both)]).toEqual([true, 8999]);
      const [holder, other, folder] = both[0]! < 8975 ? [a, b, 'a'] : [b, a, 'b'];
      expect((await ask('/ready', front.url, {})).status).toBe(200);
      // The proxy does not pass on the request id of a client, and the server takes the one of the proxy.
      const named = await ask('/health', front.url, { 'X-Request-Id': 'chosen-by-the-client' });
      expect(named.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);

      // Events pass at once, and the stream ends when its server is lost.
      const opened = await ask('/api/v1/stream/gex/SPY');
      const events = eventsOf(opened.body!);
      expect((await events.next())!.data).toContain('"ticker":"SPY"');

      // No GET fails meanwhile.
      const statuses: number[] = [];
      let isAsking = true;
      const asking = Array.from({ length: 8 }, async () => {
        while (isAsking) statuses.push((await ask('/health')).status);
      });
      if (loss === 'is killed') process.kill(holder.pid, 'SIGKILL');
      else rmSync(at(folder, 'zomma.sqlite'));
      while ((await events.next().catch(() => undefined)) !== undefined);
      const answered = statuses.length;
      while (statuses.length < answered + 40) await Bun.sleep(5);
      isAsking = false;
      await Promise.all(asking);
      expect(new Set(statuses)).toEqual(new Set([200]));
      const again = eventsOf((await ask('/api/v1/stream/gex/SPY')).body!);
      expect((await again.next())!.data).toContain('"ticker":"SPY"');
      const before = await left(other.url);
      await left(front.url);
      expect(await left(other.url)).toBeLessThanOrEqual(before - 2);
    },
    60_000,
  );
});
