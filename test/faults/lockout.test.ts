import { describe, expect } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { quantile } from '../../src/bench/race.ts';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { makeCertificate } from '../support/certificate.ts';
import { writeChain } from '../support/chain-file.ts';
import { testNeeding } from '../support/needs.ts';
import { PROGRAM, type Server, startServer } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** Anyone can open connections. A client without a key that opens as many as it can must not lock others out. */
const DESCRIPTORS = 256;
const ATTACKERS = 300;
/** The number of attackers whose connections stay open. See docs/operating.md. */
const STAY = 40;
/** How long a client from another address waits for its answer. The processes of this test share one or two cores. */
const ANSWER_MS = 50;
const WORST_ANSWER_MS = 1_000;
const PROBES = 40;
/** The feed looks at the drop folder every few seconds. */
const PATIENCE_MS = 15_000;

const folder = folderForTests();

const testOnLinux = testNeeding(process.platform === 'linux', 'connections are bounded on Linux alone');
describe('300 connections without a key, 256 descriptors', () => {
  testOnLinux('over HTTP/1.1, with occasional requests', () => survives('http1', []), 240_000);

  testOnLinux(
    'over HTTP/1.1, with requests that never end, opened again as soon as they are closed',
    () => survives('half', []),
    240_000,
  );

  testOnLinux('over HTTP/2, with occasional PINGs', async () => {
    const { cert, key } = makeCertificate(folder);
    await survives('http2', ['--tls-cert', cert, '--tls-key', key]);
  });
});

async function survives(kind: 'http1' | 'http2' | 'half', tls: readonly string[]): Promise<void> {
  const serverFolder = mkdtempSync(join(folder, 'server-'));
  const [drop, dataDir] = [join(serverFolder, 'drop'), join(serverFolder, 'data')];
  mkdirSync(drop);
  const limited = ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'zomma', ...PROGRAM];
  const server = await startServer(limited, [
    ...['serve', '--port', '0', '--data-dir', dataDir, '--feed', `files:${drop}`, '--log-level', 'debug', ...tls],
  ]);
  const store = openData(dataDir);
  let attackers: ReturnType<typeof lockOut> | undefined;
  try {
    await server.loaded;
    const { apiKey } = await openAccess(store, dataDir).addMember({ uuid: '00000000-0000-4000-8000-000000000001' });
    const isOpen = await openStream(server, apiKey);
    await answerMs(server);
    const before = descriptors(server);

    attackers = lockOut(server, kind);
    const open = lastLineOf(attackers.stdout);
    const times: number[] = [];
    // Connections that are opened again have no stable number.
    const hasSettled = () => kind === 'half' || open() === STAY;
    while (times.length < PROBES || !hasSettled()) {
      times.push(await answerMs(server));
      await Bun.sleep(20);
      if (times.length > 10 * PROBES) throw new Error(`${open()} attackers have a connection`);
    }
    // The service still has descriptors for files.
    writeChain(join(drop, 'chain.csv'));
    await until(() => server.log().includes('"message":"chain_stored"'));
    for (let probe = 0; probe < PROBES; probe++) times.push(await answerMs(server));
    expect(hasSettled() || open()).toBe(true);
    expect(quantile(times, 0.5)).toBeLessThan(ANSWER_MS);
    expect(quantile(times, 1)).toBeLessThan(WORST_ANSWER_MS);
    // A member's stream from the same address stays open.
    expect(isOpen()).toBe(true);

    attackers.kill();
    await until(() => descriptors(server) <= before + 1);
    expect(server.log()).toMatch(/"few_descriptors".*"connections":160,"streams":120/);
    expect(server.log()).toMatch(/"connections_ended".*"connections":\d+/);
  } finally {
    attackers?.kill();
    store.close();
    expect((await server.stop('SIGTERM')).code).toBe(0);
  }
}

function lockOut({ url }: Server, kind: string) {
  const script = join(import.meta.dir, 'hostile/locking-out.ts');
  return Bun.spawn([process.execPath, script, url, String(ATTACKERS), kind], { stdout: 'pipe', stderr: 'ignore' });
}

/** Returns the time in ms from a request to its answer, for a new client at another address than the attackers'. */
async function answerMs(server: Server): Promise<number> {
  const askedAt = performance.now();
  const answered = Promise.withResolvers<void>();
  const socket = wire(server, '127.0.0.2', 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  socket.on('data', (bytes) => bytes.toString().includes('200 OK') && answered.resolve());
  socket.on('close', () => answered.reject(new Error('closed without an answer')));
  const late = setTimeout(() => answered.reject(new Error('no answer')), PATIENCE_MS);
  await answered.promise.finally(() => {
    clearTimeout(late);
    socket.destroy();
  });
  return performance.now() - askedAt;
}

/** Opens a stream of live levels. Returns a function that tells whether the stream is still open. */
async function openStream(server: Server, key: string): Promise<() => boolean> {
  const head = `GET /api/v1/stream/gex/SPY HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
  const socket = wire(server, '127.0.0.1', head);
  const begun = Promise.withResolvers<void>();
  let isOpen = true;
  socket.on('data', () => begun.resolve());
  socket.on('close', () => {
    isOpen = false;
  });
  await begun.promise;
  return () => isOpen;
}

function wire({ url }: Server, localAddress: string, text: string): Socket {
  const { hostname, port, protocol } = new URL(url);
  const plain = connect({ host: hostname, port: Number(port), localAddress });
  const socket = protocol === 'https:' ? connectTls({ socket: plain, rejectUnauthorized: false }) : plain;
  for (const each of [plain, socket]) each.on('error', () => {});
  socket.write(text);
  return socket;
}

function descriptors({ pid }: Server): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns a function that gives the number on the last complete line so far. */
function lastLineOf(output: ReadableStream<Uint8Array>): () => number {
  let text = '';
  void (async () => {
    for await (const piece of output) text = (text + Buffer.from(piece).toString()).slice(-100);
  })();
  return () => Number(text.split('\n').at(-2));
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`has not come about: ${holds}`);
    await Bun.sleep(20);
  }
}
