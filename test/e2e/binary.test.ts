import { beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createClient, ProblemError } from '../../src/client/client.ts';
import { DOCS_PATHS } from '../../src/http/docs-page.ts';
import { CLIENT_NAMES, CLIENTS, LISTED, type McpClient } from '../mcp/connect.ts';
import { decodePng } from '../picture/decode-png.ts';
import { makeCertificate } from '../support/certificate.ts';
import { writeChain } from '../support/chain-file.ts';
import { testWithProgram } from '../support/needs.ts';
import {
  addMember,
  BINARY,
  buildBinary,
  keyOf,
  PROGRAM,
  ROOT,
  run,
  startServer,
  withFolder,
} from '../support/process.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { withServer } from '../support/with-server.ts';

/** The compiled binary, run from another folder, as operators and new users run it. */
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

beforeAll(() => buildBinary() as Promise<void>, 240_000);

test('start prints a demo key before the ready line, only on stdout, and the key works', async () => {
  await withFolder(async (dataDir) => {
    const server = await startServer(BINARY, ['start', '--port', '0', '--data-dir', dataDir]);
    const key = server.before.join('\n').match(/ZOMMA_[0-9A-HJKMNP-TV-Z]{16}/)?.[0];
    expect(server.before.join('\n')).toContain('curl ');
    const response = await fetch(`${server.url}/api/v1/nodes/gex/SPY`, { headers: { 'X-API-Key': key! } });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-data-simulated')).toBe('true');
    const picture = await fetch(`${server.url}/api/v1/nodes/gex/SPY/hedging?format=image`, {
      headers: { 'X-API-Key': key! },
    });
    // The renderer and the font are in the binary.
    expect(decodePng(await picture.bytes()).width).toBe(960);
    const { code, stderr } = await server.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).not.toContain('ZOMMA_');
  });
});

test('sends spans to a collector', async () => {
  const received = Promise.withResolvers<string>();
  await using collector = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.resolve(await request.text());
      return Response.json({});
    },
  });
  await withFolder(async (dataDir) => {
    const server = await startServer(BINARY, ['start', '--port', '0', '--data-dir', dataDir], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    });
    await fetch(`${server.url}/health`);
    expect(await received.promise).toContain('GET /health');
    expect((await server.stop('SIGTERM')).code).toBe(0);
  });
});

describe('agents', () => {
  const server = withServer(BINARY, () => ['start', '--port', '0']);

  test.each(CLIENT_NAMES)('%s', async (name) => {
    const client = await CLIENTS[name](server.url, { 'X-API-Key': server.key });
    await useAll(client);
    await expect(CLIENTS[name](server.url, { 'X-API-Key': 'ZOMMA_0000000000000000' })).rejects.toThrow();
    await client.close();
  });

  test.each([
    ['from what is stored', () => ['--data-dir', server.dataDir]],
    ['through the running server', () => ['--url', server.url, '--key', server.key]],
  ])('over standard input and output, %s', async (_name, args) => {
    const client = new Client({ name: 'e2e', version: '1' });
    await client.connect(new StdioClientTransport({ command: BINARY[0]!, args: ['mcp', ...args()] }));
    await useAll(client);
    await client.close();
  });

  /** What the errors of examples say that a server which has just started cannot answer. */
  const NOT_YET: Readonly<Record<string, RegExp>> = {
    get_whale_prints: /listed/,
    get_levels_history: /being computed/,
  };

  /** Calls each listed tool with its example, calls an unknown tool, and reads the longest resource. */
  async function useAll(client: McpClient): Promise<void> {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(LISTED);
    for (const { name, _meta } of tools.slice(0, -1)) {
      const example = _meta!['zomma/example'] as Record<string, unknown>;
      const answer = await client.callTool({ name, arguments: example });
      // The date of an example may not be listed, and the levels of a ticker may not be computed yet. The error then says so.
      if (answer.isError)
        expect([name, JSON.stringify(answer.content)]).toEqual([name, expect.stringMatching(NOT_YET[name]!)]);
      else expect(answer.structuredContent).toBeObject();
    }
    const read = await client.callTool({ name: 'read_resource', arguments: { uri: 'zomma://universe' } });
    expect(JSON.stringify(read.content)).toContain('total_tracked');
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(
      "Tool 'no_such_tool' is not registered",
    );
    const { contents } = await client.readResource({ uri: 'zomma://methods' });
    expect((contents[0] as { text: string }).text).toStartWith('# Methods');
  }
});

describe('serving a folder of chains', () => {
  const server = withServer(BINARY, (folder) => {
    mkdirSync(join(folder, 'chains/deep'), { recursive: true });
    writeChain(join(folder, 'chains/deep/a.csv'), 'TEST');
    writeFileSync(join(folder, 'chains/README.md'), 'notes');
    return ['serve', '--port', '0', '--feed', `files:${join(folder, 'chains')}`];
  });
  let key: string;
  beforeAll(async () => {
    key = await addMember(BINARY, server.dataDir, UUID);
  });

  test('a running server accepts a member added by another process at once, and rejects it once revoked', async () => {
    const uuid = '5f0c1d9e-3b2a-4c6d-8e7f-9a0b1c2d3e4f';
    const api_key = await addMember(BINARY, server.dataDir, uuid);
    const ask = async () =>
      (await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': api_key } })).status;
    expect(await ask()).toBe(200);
    expect(await (await fetch(`${server.url}/api/v1/auth/my-key?uuid=${uuid}`)).json()).toEqual({
      status: 'authorized',
      api_key,
    });
    await run(BINARY, ['members', 'revoke', '--uuid', uuid, '--data-dir', server.dataDir]);
    expect(await ask()).toBe(403);
  });

  test('the typed client calls operations and throws a ProblemError', async () => {
    const client = createClient({ baseUrl: server.url, apiKey: key });
    const nodes = await client.call('get_live_gex_nodes', { ticker: 'TEST' });
    expect(nodes).toMatchObject({ ticker: 'TEST', call_wall: 105, put_wall: 95 });
    expect((await client.callExtended('get_live_gex_nodes', { ticker: 'test' })).contracts.used).toBe(18);
    const refusal = await client.call('calculate_kelly_sizing', { win_prob: 2 }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProblemError);
    expect(refusal).toMatchObject({ status: 422, code: 'invalid_body' });
  });

  test('zomma call and zomma gex work on the same data while the server runs', async () => {
    const data = ['--data-dir', server.dataDir];
    const called = await run(BINARY, ['call', 'get_live_gex_nodes', '{"ticker":"TEST"}', ...data]);
    const listed = await run(BINARY, ['gex', 'TEST', '--json', ...data]);
    const served = await fetch(`${server.url}/api/v1/nodes/gex/TEST`, { headers: { 'X-API-Key': key } });
    const { net_gex_mil, expiry: _expiry, ...nodes } = (await served.json()) as Record<string, unknown>;
    expect(JSON.parse(called.stdout)).toMatchObject(nodes);
    expect(JSON.parse(listed.stdout)).toMatchObject({ ...nodes, net_gex_mil });
  });

  test('the binary contains the OpenAPI documentation page', async () => {
    for (const path of DOCS_PATHS) {
      const plain = await fetch(server.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      expect([path, plain.status, plain.headers.get('content-encoding')]).toEqual([path, 200, null]);
      const packaged = /swagger-ui-[\d.]+\.(js|css)$/.exec(path)?.[1];
      const source = packaged === 'js' ? 'swagger-ui-bundle.js' : 'swagger-ui.css';
      const text = await plain.text();
      if (packaged) expect(text).toBe(readFileSync(join(ROOT, 'node_modules/swagger-ui-dist', source), 'utf8'));
      const compressed = await fetch(server.url + path, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(await compressed.text()).toBe(text);
    }
    // The binary serves its embedded files: it knows no package folder.
    expect(readFileSync(BINARY[0]!).includes(join(ROOT, 'node_modules'))).toBe(false);
  });

  test('a ticker without a chain gets a 400 that names the reason', async () => {
    const ask = async (ticker: string) =>
      (await fetch(`${server.url}/api/v1/nodes/gex/${ticker}`, { headers: { 'X-API-Key': key } })).json();
    expect(await ask('QQQ')).toMatchObject({ status: 400, code: 'no_chain' });
    expect(await ask('NOPE')).toMatchObject({ status: 400, code: 'unknown_ticker' });
  });

  test('without prints the flow comes from snapshots, with a note', async () => {
    const response = await fetch(`${server.url}/api/v1/tools/get_whale_prints`, {
      method: 'POST',
      headers: { 'X-API-Key': key },
      body: '{"ticker":"TEST","target_expiry":"2026-09-18"}',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-data-notes')).toContain('no prints');
  });

  test('rejects a ten-megabyte body over a socket with the standard error format', async () => {
    const response = await fetch(`${server.url}/api/v1/physics/greeks`, {
      method: 'POST',
      headers: { 'X-API-Key': key },
      body: ' '.repeat(10 * 1024 * 1024),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'body_too_large' });
  });
});

test('`--tls internal` serves HTTPS within two seconds, and `tls trust` prints the authority', async () => {
  await withFolder(async (dataDir) => {
    const startedAt = performance.now();
    const server = await startServer(BINARY, ['serve', '--port', '0', '--tls', 'internal', '--data-dir', dataDir]);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const ca = (await run(BINARY, ['tls', 'trust', '--pem', '--data-dir', dataDir])).stdout;
    const response = await fetch(`${server.url}/health`, { tls: { ca } });
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(await response.json()).toEqual({ status: 'online' });
    await expect(fetch(`${server.url}/docs`)).rejects.toThrow(/certificate/);
    expect((await server.stop('SIGTERM')).code).toBe(0);
  });
});

test('bench prints a table and JSON without any file besides the binary', async () => {
  const table = await run(BINARY, ['bench', '--quick']);
  expect(table.code).toBe(0);
  expect(table.stdout).toContain('implied volatility, per option');
  const { machine, speed, accuracy } = JSON.parse((await run(BINARY, ['bench', '--quick', '--json'])).stdout);
  expect(machine.processor).toBeString();
  for (const { ns } of speed) expect(ns).toBeGreaterThan(0);
  for (const { worstScaledError } of accuracy) expect(worstScaledError).toBeLessThan(4);
});

test('answers a request without a Host header', async () => {
  await withFolder(async (folder) => {
    await using server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
    const answer = Promise.withResolvers<string>();
    let text = '';
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(server.url.split(':').at(-1)),
      socket: {
        data: (_, bytes) => {
          text += bytes.toString();
        },
        close: () => answer.resolve(text),
      },
    });
    socket.write('GET /health HTTP/1.0\r\n\r\n');
    expect(await answer.promise).toContain('{"status":"online"}');
  });
});

test('a second server on the same port fails to start', async () => {
  await withFolder(async (folder) => {
    await using first = await startServer(BINARY, ['start', '--port', '0', '--data-dir', join(folder, 'a')]);
    const port = first.url.split(':').at(-1)!;
    const second = await run(BINARY, ['start', '--port', port, '--data-dir', join(folder, 'b')]);
    expect([second.code, second.stdout.includes('listening on')]).toEqual([1, false]);
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s closes open streams, finishes and exits 0 within five seconds',
  async (signal) => {
    await withFolder(async (folder) => {
      const server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
      const key = keyOf(server);
      const streams = await Promise.all(
        ['/sse', '/sse', '/api/v1/stream/gex/SPY', '/api/v1/stream/gex/SPY,QQQ'].map((path) =>
          fetch(server.url + path, { headers: { 'X-API-Key': key } }),
        ),
      );
      const { code, durationMs } = await server.stop(signal);
      expect(code).toBe(0);
      expect(durationMs).toBeLessThan(5_000);
      for (const stream of streams) expect(await stream.text()).toContain('retry: ');
    });
  },
);

describeRecorded('recorded chains', (recorded) => {
  const name = 'AAPL, SPY, SPX and RUT answer from their files, over HTTP and over HTTPS by h1 and h2, and over MCP';
  testWithProgram('curl')(
    name,
    async () => {
      await withFolder(async (folder) => {
        const { cert, key: tlsKey } = makeCertificate(folder);
        const args = ['serve', '--port', '0', '--feed', `files:${recorded}`];
        const [first, second] = [join(folder, 'data'), join(folder, 'secure')];
        await using plain = await startServer(BINARY, [...args, '--data-dir', first]);
        await using secure = await startServer(BINARY, [
          ...args,
          ...['--data-dir', second, '--tls-cert', cert, '--tls-key', tlsKey],
        ]);
        await Promise.all([plain.loaded, secure.loaded]);
        // With the same secret, a member has the same key on both servers.
        copyFileSync(join(first, 'secret'), join(second, 'secret'));
        const api_key = await addMember(BINARY, first, UUID);
        await addMember(BINARY, second, UUID);
        const headers = { 'X-API-Key': api_key };
        for (const ticker of ['AAPL', 'SPY', 'SPX', 'RUT']) {
          const path = `/api/v1/nodes/gex/${ticker}`;
          const response = await fetch(plain.url + path, { headers });
          const body = await response.text();
          expect(Object.keys(JSON.parse(body))).toEqual([
            'ticker',
            'spot_price',
            'expiry',
            'max_pain',
            'call_wall',
            'put_wall',
            'gex_flip',
            'net_gex_mil',
          ]);
          expect(response.headers.get('x-data-source')).toStartWith('files:');
          for (const [flag, version] of [
            ['--http1.1', '1.1'],
            ['--http2', '2'],
          ] as const) {
            const { stdout } = await run(
              ['curl'],
              ['-sk', flag, '-w', '\n%{http_version} %{http_code}', '-H', `X-API-Key: ${api_key}`, secure.url + path],
            );
            expect(stdout).toBe(`${body}\n${version} 200`);
          }
        }
        // Rejected bodies with and without a declared length: the client always gets the response, whatever it has
        // sent by then.
        const bad = 'ZOMMA_0000000000000000';
        const GREEKS = '/api/v1/physics/greeks';
        for (const [bytes, isDeclared, key, path, status] of [
          [10 * 1024 * 1024, true, api_key, GREEKS, 413],
          [10 * 1024 * 1024, true, bad, GREEKS, 403],
          [2 * 1024 * 1024, false, api_key, GREEKS, 413],
          [100, false, bad, GREEKS, 403],
          [20_000, false, bad, GREEKS, 403],
          [200_000, false, api_key, '/nothing', 404],
        ] as const) {
          const text = ' '.repeat(bytes);
          const file = join(folder, 'body.json');
          writeFileSync(file, text);
          const body = isDeclared ? ['--data-binary', `@${file}`] : ['-T', '-'];
          const post = ['-sk', '--http2', '-w', '\n%{http_code}', '-X', 'POST', '-H', `X-API-Key: ${key}`, ...body];
          const { stdout } = await run(['curl'], [...post, secure.url + path], text);
          const [answered, code] = stdout.split('\n');
          expect([bytes, isDeclared, path, code]).toEqual([bytes, isDeclared, path, String(status)]);
          expect(JSON.parse(answered!).status).toBe(status);
        }
        const client = new Client({ name: 'e2e', version: '1' });
        await client.connect(
          new SSEClientTransport(new URL(`${plain.url}/sse`), {
            requestInit: { headers },
            eventSourceInit: {
              fetch: (url, init) => fetch(url, { ...init, headers: { ...(init?.headers as object), ...headers } }),
            },
          }),
        );
        const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPX' } });
        expect(answer.structuredContent).toMatchObject({ ticker: 'SPX', call_wall: 4000, put_wall: 3950 });
        await client.close();
      });
    },
    240_000,
  );
});
