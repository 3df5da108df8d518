import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../support/certificate.ts';
import { testWithProgram } from '../support/needs.ts';
import { FROM_SOURCE, keyOf, PROGRAM, run, type Server, startServer } from '../support/process.ts';

/** SIGTERM ends the process in time, whatever its clients do and whatever it waits for. */
const STOP_MS_MAX = 5_000;
const CLIENTS = 40;
const FINE = Array.from({ length: 5_000 }, (_, i) => 100 + i / 100);
const BATCH = JSON.stringify({
  put_call: FINE.map(() => 'C'),
  spot: FINE,
  strike: FINE.map(() => 100),
  tte: FINE.map(() => 0.1),
  iv: FINE.map(() => 0.3),
});

const folder = mkdtempSync(join(tmpdir(), 'zomma-stopping-'));
const clients: (Socket | ClientHttp2Session)[] = [];
afterAll(() => {
  for (const client of clients) client.destroy();
  rmSync(folder, { recursive: true, force: true });
});

/** What a client has sent when the server must stop. The client reads none of its answers. */
const SENT: readonly [what: string, text: (key: string) => string][] = [
  ['a stream of levels', (key) => headOf('GET /api/v1/stream/gex/SPY', key)],
  ['a stream of MCP', (key) => headOf('GET /sse', key)],
  ['a request whose answer it does not read', (key) => `${headOf(GREEKS, key, BATCH.length)}${BATCH}`],
  ['half of a body', (key) => `${headOf('POST /mcp', key, 1_000)}{"jsonrpc":`],
  ['half of a head', () => 'POST /mcp HTTP/1.1\r\nHost: loc'],
];

test.concurrent.each(SENT)(
  'ends in time while clients have sent %s',
  async (_, text) => {
    const { server, key } = await started();
    const { hostname, port } = new URL(server.url);
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const socket = connect(Number(port), hostname);
        clients.push(socket);
        socket.on('error', () => {}).pause();
        await new Promise((sent) => socket.write(text(key), sent));
      }),
    );
    await expectStop(server);
  },
  30_000,
);

test.concurrent('ends in time while HTTP/2 clients read nothing and send PINGs', async () => {
  const tls = makeCertificate(folder);
  const { server, key } = await started(['--tls-cert', tls.cert, '--tls-key', tls.key]);
  const session = connectHttp2(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } });
  clients.push(session);
  session.on('error', () => {});
  await new Promise((connected) => session.once('connect', connected));
  const pinging = setInterval(() => !session.destroyed && session.ping(() => {}), 100);
  const paths = [
    { ':path': '/sse' },
    { ':path': '/api/v1/stream/gex/SPY' },
    { ':path': '/api/v1/physics/greeks/batch', ':method': 'POST', 'content-type': 'application/json' },
    { ':path': '/mcp', ':method': 'POST', 'content-type': 'application/json' },
  ];
  for (const path of paths) {
    const request = session.request({ ...path, 'x-api-key': key });
    request.on('error', () => {});
    if (path[':path'].endsWith('batch')) request.end(BATCH);
    else if (path[':method']) request.write('{"half');
  }
  await expectStop(server);
  clearInterval(pinging);
}, 30_000);

const testWithPipe = Bun.which('mkfifo') ? test.concurrent : testWithProgram('mkfifo');
testWithPipe(
  'ends in time while the process waits for a file that never opens',
  async () => {
    const [pipe, opening] = [join(folder, 'pipe'), join(folder, 'opening.ts')];
    expect((await run(['mkfifo'], [pipe])).code).toBe(0);
    writeFileSync(opening, `import { open } from 'node:fs/promises';\nvoid open(${JSON.stringify(pipe)}, 'r');\n`);
    const [bun, ...main] = FROM_SOURCE as [string, string];
    const { server } = await started([], [bun, '--preload', opening, ...main]);
    expect((await expectStop(server)).stderr).toContain('"message":"stop_forced"');
  },
  30_000,
);

/** Servers that have not loaded their data yet. */
let starting = 0;

async function started(args: readonly string[] = [], command: readonly string[] = PROGRAM) {
  starting++;
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const server = await startServer(command, ['start', '--port', '0', '--data-dir', dataDir, ...args]);
  await server.loaded;
  starting--;
  return { server, key: keyOf(server) };
}

async function expectStop(server: Server) {
  // The server has received all earlier messages when it answers this request.
  expect((await fetch(`${server.url}/health`, { tls: { rejectUnauthorized: false } })).status).toBe(200);
  // A server that starts would take the processor from those that stop.
  while (starting > 0) await Bun.sleep(20);
  const stopped = await server.stop('SIGTERM');
  expect(stopped.code).toBe(0);
  expect(stopped.durationMs).toBeLessThan(STOP_MS_MAX);
  return stopped;
}

const GREEKS = 'POST /api/v1/physics/greeks/batch';

function headOf(line: string, key: string, length = 0): string {
  const type = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream';
  return `${line} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${type}\r\nContent-Length: ${length}\r\n\r\n`;
}
