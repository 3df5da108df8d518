import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FROM_SOURCE, run, type Server, startServer } from '../support/process.ts';

/** The operations address of a running server. */
let folder: string;
let dataDir: string;
let server: Server;
let ops: string;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zomma-ops-'));
  dataDir = join(folder, 'data');
  server = await startServer(FROM_SOURCE, [
    ...['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', 'off', '--ops', '127.0.0.1:0'],
  ]);
  await server.loaded;
  ops = /"operations_served"[^\n]*"address":"([^"]+)"/.exec(server.log())![1]!;
  key = /ZOMMA_\w{16}/.exec(server.before.join('\n'))![0];
});
afterAll(async () => {
  await server.stop('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string) => {
  const response = await fetch(ops + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};
/** Returns the value of a sample, by its name with labels. */
const sample = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? Number.NaN,
  );

test('tells that the process lives and that it is ready', async () => {
  expect(await get('/live')).toMatchObject({ status: 200, text: 'live\n' });
  expect(await get('/ready')).toMatchObject({ status: 200, text: 'ready\n' });
  expect(await get('/other')).toMatchObject({ status: 404 });
  expect((await fetch(`${ops}/live`, { method: 'POST' })).status).toBe(405);
});

test('the address of members has none of it', async () => {
  for (const path of ['/live', '/ready', '/metrics']) expect((await fetch(server.url + path)).status).toBe(401);
});

describe('metrics', () => {
  test('count requests by route and status, and describe feeds, streams and disk', async () => {
    const stream = await fetch(`${server.url}/api/v1/stream/gex/SPY`, { headers: { 'X-API-Key': key } });
    for (let i = 0; i < 3; i++) await fetch(`${server.url}/api/v1/nodes/gex/SPY`, { headers: { 'X-API-Key': key } });
    await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': 'ZOMMA_AAAAAAAAAAAAAAAA' } });
    const { text, type } = await get('/metrics');
    expect(type).toStartWith('text/plain; version=0.0.4');
    const count = 'zomma_http_request_duration_seconds_count';
    expect(sample(text, `${count}{method="GET",route="/api/v1/nodes/gex/{ticker}",status="200"}`)).toBe(3);
    expect(sample(text, `${count}{method="GET",route="/api/v1/universe",status="403"}`)).toBe(1);
    expect(text).toMatch(/^zomma_build_info\{version="[\d.]+",commit="\w+",schema="\d+"\} 1$/m);
    expect(sample(text, 'zomma_feed_state{feed="simulated",state="ok"}')).toBe(1);
    expect(sample(text, 'zomma_feed_state{feed="simulated",state="down"}')).toBe(0);
    expect(sample(text, 'zomma_feed_tickers{feed="simulated",state="fresh"}')).toBe(59);
    expect(sample(text, 'zomma_feed_contracts_received{feed="simulated"}')).toBeGreaterThan(10_000);
    expect(sample(text, 'zomma_live_streams')).toBe(1);
    for (const name of ['zomma_db_bytes', 'zomma_disk_free_bytes', 'zomma_resident_memory_bytes'])
      expect([name, sample(text, name) > 1e5]).toEqual([name, true]);
    expect(sample(text, 'zomma_ready')).toBe(1);
    expect(sample(text, 'zomma_levels_due')).toBeGreaterThanOrEqual(0);
    for (const secret of [key, 'ZOMMA_AAAA']) expect(text).not.toContain(secret);
    await stream.body!.cancel();
  });

  const promtool = Bun.which('promtool');
  test.skipIf(promtool === null)('pass the check of Prometheus', async () => {
    const { text } = await get('/metrics');
    expect(await run([promtool!], ['check', 'metrics'], text)).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test('a server whose database was removed is not ready', async () => {
  rmSync(join(dataDir, 'zomma.sqlite'));
  expect(await get('/ready')).toMatchObject({ status: 503, text: expect.stringContaining('database was removed') });
  expect(sample((await get('/metrics')).text, 'zomma_ready')).toBe(0);
  while (!server.log().includes('"database_gone"')) await Bun.sleep(50);
});

test('a server that stops is not ready, and answers what lies in its sockets', async () => {
  const { server: other, address } = await (async () => {
    const started = await startServer(FROM_SOURCE, [
      ...['start', '--port', '0', '--data-dir', join(folder, 'other'), '--ops', '127.0.0.1:0'],
    ]);
    await started.loaded;
    return { server: started, address: /"operations_served"[^\n]*"address":"([^"]+)"/.exec(started.log())![1]! };
  })();
  // Requests that keep coming hold the drain open for its whole time.
  const port = Number(new URL(other.url).port);
  const knock = setInterval(() => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.on('error', () => {});
    socket.on('data', () => socket.destroy());
  }, 20);
  process.kill(other.pid, 'SIGTERM');
  while (!other.log().includes('"stopping"')) await Bun.sleep(2);
  const response = await fetch(`${address}/ready`);
  expect([response.status, await response.text()]).toEqual([503, 'The server is stopping.\n']);
  clearInterval(knock);
  expect(await other.ended).toBe(0);
}, 30_000);

test.each(['9464', '127.0.0.1', 'http://127.0.0.1:9464', '127.0.0.1:99999'])('--ops %s is no address', async (text) => {
  const { code, stderr } = await run(FROM_SOURCE, ['serve', '--ops', text, '--data-dir', join(folder, 'none')]);
  expect([code, stderr]).toEqual([78, expect.stringContaining('is not an address')]);
});
