import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { initialize } from '../mcp/http/messages.ts';
import { PROGRAM, run, startServer } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** The spans of a real server, as a collector gets them over OTLP. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

const spans: SentSpan[] = [];
const resources: string[] = [];
const fields: (string | null)[] = [];
const collector = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (new URL(request.url).pathname !== '/v1/traces') return new Response(null, { status: 404 });
    fields.push(request.headers.get('x-tenant'));
    const { resourceSpans } = (await request.json()) as {
      resourceSpans: { resource: unknown; scopeSpans: { spans: SentSpan[] }[] }[];
    };
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(JSON.stringify(resource));
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    return Response.json({});
  },
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const ARGS = ['start', '--port', '0', '--access-log', '--trusted-proxies', '127.0.0.1'];

const server = withServer(PROGRAM, () => ARGS, {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=desk',
  OTEL_SERVICE_NAME: 'options',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
});
const { folder } = server;
afterAll(() => collector.stop(true));

const attributesOf = ({ attributes }: SentSpan) =>
  Object.fromEntries(attributes.map(({ key: name, value }) => [name, Object.values(value)[0]]));
async function spanOf(isIt: (span: SentSpan) => boolean): Promise<SentSpan> {
  for (;;) {
    const found = spans.find(isIt);
    if (found) return found;
    await Bun.sleep(20);
  }
}
const lineWith = async (text: string) => {
  for (;;) {
    const line = server
      .log()
      .split('\n')
      .find((each) => each.includes(text));
    if (line !== undefined) return JSON.parse(line) as Record<string, unknown>;
    await Bun.sleep(10);
  }
};

test('a request continues the trace of its sender, with the analysis as a child', async () => {
  const response = await fetch(`${server.url}/api/v1/nodes/gex/QQQ`, {
    headers: { 'X-API-Key': server.key, traceparent: `00-${TRACE}-${SPAN}-01`, 'X-Request-Id': 'edge-1' },
  });
  expect(response.status).toBe(200);
  const span = await spanOf(({ traceId, name }) => traceId === TRACE && name.startsWith('GET'));
  expect(span).toMatchObject({ name: 'GET /api/v1/nodes/gex/{ticker}', parentSpanId: SPAN, kind: 2 });
  expect(attributesOf(span)).toMatchObject({
    'http.request.method': 'GET',
    'http.route': '/api/v1/nodes/gex/{ticker}',
    'http.response.status_code': 200,
    'client.address': '127.0.0.1',
    'zomma.request_id': 'edge-1',
  });
  const child = await spanOf(({ traceId, parentSpanId }) => traceId === TRACE && parentSpanId === span.spanId);
  expect(child.name).toBe('get_live_gex_nodes');
  expect(await lineWith('"edge-1"')).toMatchObject({ message: 'request_answered', trace_id: TRACE });
});

test('a tool call of MCP is a child of its POST, in a new trace', async () => {
  const post = (body: object, more: Record<string, string> = {}) => {
    const accepted = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const headers = { 'X-API-Key': server.key, ...accepted, 'MCP-Protocol-Version': '2025-11-25', ...more };
    return fetch(`${server.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const begun = await post(initialize('2025-11-25'));
  const params = { name: 'detect_lethal_nodes', arguments: { ticker: 'SPY' } };
  const called = await post(
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
    { 'Mcp-Session-Id': begun.headers.get('mcp-session-id')!, 'X-Request-Id': 'tool-1' },
  );
  expect(await called.text()).toContain('"result"');
  const child = await spanOf(({ name }) => name === 'detect_lethal_nodes');
  const parent = await spanOf(({ spanId }) => spanId === child.parentSpanId);
  expect(parent.name).toBe('POST /mcp');
  expect(attributesOf(parent)['zomma.request_id']).toBe('tool-1');
  expect(parent.traceId).not.toBe(TRACE);
  expect(await lineWith('"tool-1"')).toMatchObject({ trace_id: parent.traceId });
});

test('the environment names the service, its attributes and the fields for the collector', async () => {
  await spanOf(() => true);
  for (const part of ['"options"', 'deployment.environment.name', 'service.version']) {
    expect(resources[0]).toContain(part);
  }
  expect(new Set(fields)).toEqual(new Set(['desk']));
});

test('no span has a key or a path that a caller chose', async () => {
  await fetch(`${server.url}/${crypto.randomUUID()}`, { headers: { 'X-API-Key': server.key } });
  await spanOf(({ name }) => name === 'GET (none)');
  expect(JSON.stringify(spans)).not.toMatch(/ZOMMA_|[\da-f]{8}-[\da-f]{4}-4/);
});

test('without a sampled parent and with the sampler always_off, nothing is sent, and the log has the trace', async () => {
  const other = await startServer(PROGRAM, [...ARGS, '--data-dir', join(folder, 'off')], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_TRACES_SAMPLER: 'always_off',
  });
  await fetch(`${other.url}/health`, { headers: { 'X-Request-Id': 'unsampled' } });
  const { stderr } = await other.stop('SIGTERM');
  expect(stderr).toMatch(/"request_id":"unsampled"[^\n]*"trace_id":"[\da-f]{32}"/);
  expect(JSON.stringify(spans)).not.toContain('unsampled');
}, 30_000);

test('a collector that cannot be reached, or that hangs, costs no request, and is reported once', async () => {
  using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  for (const port of [1, silent.port]) {
    const other = await startServer(PROGRAM, [...ARGS, '--data-dir', join(folder, `unreached-${port}`)], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    });
    await other.loaded;
    const reported = () =>
      other
        .log()
        .split('\n')
        .filter((line) => line.includes('"traces_unsent"'));
    // More spans than the queue has room for.
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${other.url}/health`)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
    }
    while (reported().length === 0) {
      expect((await fetch(`${other.url}/health`)).status).toBe(200);
      await Bun.sleep(50);
    }
    const { code, durationMs } = await other.stop('SIGTERM');
    expect([code, durationMs < 5_000, reported().length]).toEqual([0, true, 1]);
  }
}, 60_000);

test.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '10%'],
])('%s=%s is refused at the start', async (name, value) => {
  const child = await run(
    ['env', 'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1', `${name}=${value}`, ...PROGRAM],
    ['serve', '--port', '0', '--data-dir', join(folder, 'refused')],
  );
  expect([child.code, child.stderr]).toEqual([expect.any(Number), expect.stringContaining(`${name} "${value}"`)]);
  expect(child.code).not.toBe(0);
});
