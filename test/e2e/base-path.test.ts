import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parseSettings } from '../support/parse-settings.ts';
import { type PathProxy, startPathProxy } from '../support/path-proxy.ts';
import { PROGRAM, run } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { withServer } from '../support/with-server.ts';

/** A real server below a path of a proxy. */
const BASE = '/zomma';
const server = withServer(PROGRAM, () => [
  ...['start', '--port', '0', '--base-path', `${BASE}/`, '--access-log'],
  ...['--rate-limit', 'off', '--trusted-proxies', '127.0.0.1'],
]);

test('prints addresses below the path', () => {
  expect(new URL(server.url).pathname).toBe(BASE);
  const open = server.before.find((line) => line.startsWith('open: '))!;
  expect(open).toStartWith(`open: ${server.url}/#code=`);
  expect(server.before.find((line) => line.startsWith('try: '))).toEndWith(` ${server.url}/api/v1/nodes/gex/SPY`);
});

test('the last line is a command that connects an agent', async () => {
  const [, command] = /^connect an agent \([^)]*\): (.*)$/.exec(server.before.at(-1)!)!;
  const { code, stdout } = await run(['sh'], ['-c', command!]);
  expect(code).toBe(0);
  expect(stdout).toContain(`zomma ${server.url}/mcp --header "X-API-Key: ${server.key}"`);
});

describe.each([
  ['passes the path on', false],
  ['removes the path', true],
])('a proxy that %s', (_, strips) => {
  let proxy: PathProxy;
  beforeAll(() => {
    proxy = startPathProxy(server.url, BASE, strips);
  });
  afterAll(() => proxy.stop());
  const get = (path: string, headers: Record<string, string> = { 'X-API-Key': server.key }) =>
    fetch(`${proxy.url}${path}`, { headers });

  test('reaches REST, with the route and the client in the log', async () => {
    const id = `base-${strips}`;
    const response = await get('/api/v1/nodes/gex/SPY', { 'X-API-Key': server.key, 'X-Request-Id': id });
    expect([response.status, ((await response.json()) as { ticker: string }).ticker]).toEqual([200, 'SPY']);
    while (!server.log().includes(`"${id}"`)) await Bun.sleep(10);
    const line = server
      .log()
      .split('\n')
      .find((each) => each.includes(`"${id}"`))!;
    expect(JSON.parse(line)).toMatchObject({ route: '/api/v1/nodes/gex/{ticker}', client: '203.0.113.9' });
  });

  test('needs a key, and gets hints with the path', async () => {
    expect((await get('/api/v1/universe', {})).status).toBe(401);
    const missing = (await (await get('/nowhere')).json()) as { hint: string };
    expect(missing.hint).toBe('See GET /zomma/openapi.json for all paths.');
    for (const path of ['/zommas', '/zomma/zomma/health', '/%7aomma/health']) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  test('reaches the documents, whose addresses have the path', async () => {
    const document = (await (await get('/openapi.json', {})).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: BASE }]);
    const origin = new URL(proxy.url).origin;
    for (const path of ['', '/', '/docs']) {
      const page = await (await get(path, {})).text();
      const named = [...page.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, address]) => address!);
      expect(named.length).toBeGreaterThan(1);
      for (const address of named) expect([address, (await fetch(origin + address)).status]).toEqual([address, 200]);
    }
    expect(await (await get('/docs/start.js', {})).text()).toContain(`'${BASE}/openapi.json'`);
  });

  test('reaches MCP over both transports and over stdio', async () => {
    const headers = { 'X-API-Key': server.key };
    const withKey = (address: string | URL, init?: RequestInit) =>
      fetch(address, { ...init, headers: { ...(init?.headers as object), ...headers } });
    const transports = [
      new SSEClientTransport(new URL(`${proxy.url}/sse`), {
        requestInit: { headers },
        eventSourceInit: { fetch: withKey as never },
      }),
      new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`), { requestInit: { headers } }),
      new StdioClientTransport({
        command: PROGRAM[0]!,
        args: [...PROGRAM.slice(1), 'mcp', '--url', proxy.url],
        env: { ...(process.env as Record<string, string>), ZOMMA_KEY: server.key },
        stderr: 'ignore',
      }),
    ];
    for (const transport of transports) {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport as never);
      const { structuredContent } = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } });
      expect(structuredContent).toMatchObject({ ticker: 'SPY' });
      await client.close();
    }
  });

  test('reaches live levels', async () => {
    const response = await get('/api/v1/stream/gex/SPY');
    const { value } = await response.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toContain('event: gex');
  });
});

test.each([
  ['zomma', 'is not a path'],
  ['/zomma?x', 'is not a path'],
  ['/a/../b', 'is not a path'],
  ['//evil', 'is not a path'],
  ['/api', 'begins like a path of the service itself'],
  ['/docs/zomma', 'begins like a path of the service itself'],
])('--base-path %s is refused', async (path, reason) => {
  const dataDir = join(server.folder, 'none');
  const { code, stderr } = await run(PROGRAM, ['serve', '--base-path', path, '--data-dir', dataDir]);
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining(reason)]);
});

test('no route of the service begins like an accepted base path', async () => {
  await using service = await startService({ isEmpty: true });
  const first = new Set(service.app.routes.map(({ path }) => path.split('/')[1]!).filter(Boolean));
  expect(first.size).toBeGreaterThan(5);
  for (const each of first) expect(() => parseSettings({ basePath: `/${each}` })).toThrow('begins like a path');
});
