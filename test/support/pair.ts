import { expect } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from './certificate.ts';
import { freePort } from './postgres.ts';
import { addMember, PROGRAM, ROOT, type Run, run, type Server, startLoaded } from './process.ts';

/** Two servers with the same inputs behind a proxy, as docs/scaling.md configures it. */
const PAGE = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
export const PAIR_MEMBER = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
/** The options of `fetch` for the proxy, whose certificate is made for the test. */
export const TRUSTED = { tls: { rejectUnauthorized: false } };

/** Gives a path in the folder of a test. */
type At = (...parts: string[]) => string;
export type Side = 'a' | 'b';

interface Proxy {
  readonly program: 'haproxy' | 'nginx';
  /** Returns the file of the proxy, from the block of the page, and the arguments that check it and that run it. */
  readonly file: (block: string, at: At) => string;
  readonly checks: (file: string) => readonly string[];
  readonly runs: (file: string) => readonly string[];
}

export const PROXIES: Readonly<Record<Proxy['program'], Proxy>> = {
  haproxy: {
    program: 'haproxy',
    file: (block, at) => block.replace('/etc/haproxy/zomma.pem', at('pair.pem')),
    checks: (file) => ['-c', '-f', file],
    runs: (file) => ['-db', '-f', file],
  },
  nginx: {
    program: 'nginx',
    file: (block, at) =>
      `daemon off; pid ${at('nginx.pid')}; error_log stderr; events {} http { access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${at(name)};`).join(' ')}\n${block
        .replace('/etc/nginx/zomma.pem', at('localhost.pem'))
        .replace('/etc/nginx/zomma.key', at('localhost.key'))}\n}`,
    checks: (file) => ['-t', '-q', '-c', file],
    runs: (file) => ['-c', file],
  },
};
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

export interface Pair {
  readonly servers: Readonly<Record<Side, Server>>;
  /** The key of `PAIR_MEMBER`. */
  readonly key: string;
  /** Starts a server again, after its end. */
  start(side: Side): Promise<Server>;
  /** Adds a member on the first server. Returns its key. */
  addKey(): Promise<string>;
  /** Makes the members of the second server equal to those of the first. */
  sync(): Promise<void>;
}

/** Starts the two servers, which have one secret, and carries the member of the first one to the second one. */
export async function startPair(at: At, feedOf: (side: Side) => string, ...more: readonly string[]): Promise<Pair> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  for (const side of ['a', 'b']) {
    mkdirSync(at(side), { mode: 0o700 });
    writeFileSync(at(side, 'secret'), secret, { mode: 0o600 });
  }
  const args = ['serve', '--behind-proxy', '--trusted-proxies', '127.0.0.1', ...more];
  const start = (side: Side, port = '0') =>
    startLoaded(PROGRAM, [...args, '--port', port, '--feed', feedOf(side), '--data-dir', at(side)]);
  const [a, b] = await Promise.all([start('a'), start('b')]);
  const servers = { a, b };
  const members = async (command: readonly string[], side: Side): Promise<void> => {
    const done: Run = await run(PROGRAM, ['members', ...command, '--data-dir', at(side)]);
    expect(done).toMatchObject({ code: 0 });
  };
  const sync = async () => {
    await members(['export', at('members')], 'a');
    await members(['import', at('members'), '--sync'], 'b');
  };
  const key = await addMember(PROGRAM, at('a'), PAIR_MEMBER);
  await sync();
  return {
    servers,
    key,
    start: (side) => start(side, new URL(servers[side].url).port),
    addKey: () => addMember(PROGRAM, at('a'), crypto.randomUUID()),
    sync,
  };
}

/** Starts the proxy of the page before these servers, and waits until it accepts connections. */
export async function startProxy({ program, file, checks, runs }: Proxy, at: At, { a, b }: Pair['servers']) {
  const { cert, key } = makeCertificate(at(''));
  writeFileSync(at('pair.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  const port = await freePort();
  const block = new RegExp(`\`\`\`${program}\n([\\s\\S]*?)\`\`\``).exec(PAGE)![1]!;
  const configured = file(block, at)
    .replace(/(bind|listen) :?443/, `$1 127.0.0.1:${port}`)
    .replace('10.0.0.11:8080', new URL(a.url).host)
    .replace('10.0.0.12:8080', new URL(b.url).host);
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
