import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { type Listening, listen } from '../../src/http/listen.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { type Service, startService } from '../support/service.ts';

/** The contract's MCP pair over real sockets, with the official client and, where it hides the wire, by hand. */
let service: Service;
let server: Listening;
beforeAll(async () => {
  service = await startService();
  server = listen(service.app.handle, { host: '127.0.0.1', port: 0, tls: undefined });
});
afterAll(async () => {
  await service.app.mcp.close();
  await server.stop(1_000);
  await service.close();
});

const VALID: Record<string, Record<string, unknown>> = {
  compute_options_greeks: { put_call: 'P', spot: 100, strike: 95, tte: 0.1, iv: 0.3, rate: 0.04 },
  get_live_gex_nodes: { ticker: 'SPY' },
  get_whale_prints: { ticker: 'SPY', target_expiry: '(a listed one)' },
  calculate_merton_probability: { ticker: 'SPY', spot_price: 500, ambush_strike: 480 },
  calculate_kelly_sizing: { win_prob: 0.6 },
  run_strategic_omni_radar: { ticker: 'AAPL' },
  evaluate_market_hamiltonian: { ticker: 'SPY', whale_fiat_kinetic: 1, gex_potential_friction: -5, iv_crush_factor: 1 },
  detect_lethal_nodes: { ticker: 'TSLA' },
  evaluate_etf_contagion: { single_name_ticker: 'NVDA', whale_fiat: 1, current_iv: 0.6, iv_ceiling: 0.5 },
};

describe('the official client', () => {
  test('lists exactly the nine tools, with units, schemas and annotations', async () => {
    await withClient(async (client) => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(Object.keys(VALID));
      for (const tool of tools) {
        expect(tool.annotations).toMatchObject({ readOnlyHint: true });
        for (const schema of [tool.inputSchema, tool.outputSchema!]) {
          for (const [name, property] of Object.entries(schema.properties!)) {
            const { description } = property as { description?: string };
            expect([tool.name, name, typeof description]).toEqual([tool.name, name, 'string']);
          }
        }
      }
      const greeks = tools[0]!.inputSchema as { required?: string[] };
      expect(greeks.required?.toSorted()).toEqual(['iv', 'put_call', 'rate', 'spot', 'strike', 'tte']);
    });
  });

  test.each(Object.keys(VALID))('calls %s with valid and with invalid arguments', async (name) => {
    await withClient(async (client) => {
      // The client checks structured content against the output schema only once it knows the list.
      await client.listTools();
      const answer = await client.callTool({ name, arguments: listed(VALID[name]!) });
      expect(answer.isError).toBeFalsy();
      expect(JSON.parse((answer.content as { text: string }[])[0]!.text)).toEqual(answer.structuredContent);
      const tool = TOOLS.find((each) => each.name === name)!;
      expect(Object.keys(answer.structuredContent as object)).toEqual([...tool.tool!.answers]);
      for (const bad of [{}, { ...VALID[name], extra: 1 }]) {
        const refusal = await client.callTool({ name, arguments: bad });
        expect(refusal.isError).toBe(true);
        expect((refusal.content as { text: string }[])[0]!.text).toContain('Fields:');
      }
    });
  });

  test('names an unknown tool in the contract’s words', async () => {
    await withClient(async (client) => {
      const call = client.callTool({ name: 'no_such_tool', arguments: {} });
      await expect(call).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("Tool 'no_such_tool' is not registered"),
      });
    });
  });

  test('gets provenance beside answers from market data', async () => {
    await withClient(async (client) => {
      const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } });
      expect(answer._meta).toMatchObject({ 'zomma/provenance': { simulated: true, source: 'simulated' } });
    });
  });

  test('is refused without a good key', async () => {
    for (const key of [undefined, 'OTHER_0123456789ABCDEF', 'ZOMMA_0000000000000000']) {
      await expect(connect(key)).rejects.toThrow(/403/);
    }
  });

  test('works in fifty sessions at once, each getting its own answers', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => connect(service.key)));
    try {
      expect(service.app.mcp.sse.size).toBe(50);
      const answers = await Promise.all(
        clients.map((client, at) =>
          client.callTool({ name: 'calculate_kelly_sizing', arguments: { win_prob: at / 50 } }),
        ),
      );
      expect(
        answers.map((answer) => (answer.structuredContent as { win_probability: number }).win_probability),
      ).toEqual(clients.map((_, at) => at / 50));
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
    await until(() => service.app.mcp.sse.size === 0);
  });
});

describe('the wire', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'honours protocol %s',
    async (protocolVersion) => {
      const stream = await openStream();
      await stream.post(initialize(protocolVersion));
      const { data } = await stream.next();
      expect(JSON.parse(data)).toMatchObject({ id: 1, result: { protocolVersion, serverInfo: { name: 'zomma' } } });
      await stream.close();
    },
  );

  test('opens with a relative endpoint and answers posts with 202', async () => {
    const stream = await openStream();
    expect(stream.endpoint).toMatch(/^\/messages\?sessionId=[\w-]{22}$/);
    const response = await stream.post({ jsonrpc: '2.0', id: 'a', method: 'ping' });
    expect(response.status).toBe(202);
    const { event, data } = await stream.next();
    expect([event, JSON.parse(data)]).toEqual(['message', { jsonrpc: '2.0', id: 'a', result: {} }]);
    await stream.close();
  });

  test.each([
    ['no name', {}, /params\.name/],
    ['a name that is no text', { name: 7 }, /params\.name/],
    ['arguments that are no object', { name: 'calculate_kelly_sizing', arguments: [1] }, /params\.arguments/],
  ])('refuses a call with %s as the caller’s fault', async (_name, params, message) => {
    const stream = await openStream();
    await stream.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params });
    expect(JSON.parse((await stream.next()).data)).toEqual({
      jsonrpc: '2.0',
      id: 5,
      error: { code: -32602, message: expect.stringMatching(message) },
    });
    await stream.close();
  });

  test.each([
    ['no JSON', '{'],
    ['no JSON-RPC', '{"hello":1}'],
    ['an empty batch', '[]'],
    ['nothing', ''],
    ['100,000 nested arrays', '['.repeat(100_000)],
  ])('answers %s with 422', async (_name, raw) => {
    const stream = await openStream();
    expect((await stream.postRaw(raw)).status).toBe(422);
    await stream.close();
  });

  test('refuses an initialize without its parameters as the caller’s fault', async () => {
    const stream = await openStream();
    await stream.post({ jsonrpc: '2.0', id: 6, method: 'initialize', params: { protocolVersion: 7 } });
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ id: 6, error: { code: -32602 } });
    await stream.close();
  });

  test('answers a batch larger than what may lie unread', async () => {
    const stream = await openStream();
    const calls = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    expect((await stream.post(calls)).status).toBe(202);
    const ids = [];
    for (const _ of calls) ids.push(JSON.parse((await stream.next()).data).id);
    expect(ids.toSorted((a, b) => a - b)).toEqual(calls.map(({ id }) => id));
    await stream.close();
  });

  test('an unknown session is 404, a missing one 400, another member’s 403', async () => {
    const stream = await openStream();
    const ask = (path: string, key: string) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: JSON.stringify(initialize('2025-11-25')),
      });
    const { apiKey } = service.app.access.addMember({ uuid: '66666666-6666-4666-8666-666666666666' });
    expect((await ask('/messages?sessionId=AAAAAAAAAAAAAAAAAAAAAA', service.key)).status).toBe(404);
    expect((await ask('/messages', service.key)).status).toBe(400);
    const foreign = await ask(stream.endpoint, apiKey);
    expect(foreign.status).toBe(403);
    expect(await foreign.json()).toMatchObject({ code: 'session_foreign' });
    await stream.close();
  });

  test('a session ends when its client goes', async () => {
    const stream = await openStream();
    expect(service.app.mcp.sse.size).toBeGreaterThan(0);
    await stream.close();
    await until(() => service.app.mcp.sse.size === 0);
  });
});

async function connect(key: string | undefined): Promise<Client> {
  const headers: Record<string, string> = key === undefined ? {} : { 'X-API-Key': key };
  const transport = new SSEClientTransport(new URL(`${server.url}/sse`), {
    requestInit: { headers },
    eventSourceInit: {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...(init?.headers as object), ...headers } }),
    },
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return client;
}

async function withClient(use: (client: Client) => Promise<void>): Promise<void> {
  const client = await connect(service.key);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

/** A stream read event by event. */
async function openStream() {
  const ending = new AbortController();
  const response = await fetch(`${server.url}/sse`, { headers: { 'X-API-Key': service.key }, signal: ending.signal });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response
    .body!.pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let buffer = '';
  const next = async (): Promise<{ event: string; data: string }> => {
    for (;;) {
      const end = buffer.indexOf('\n\n');
      if (end >= 0) {
        const block = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        const field = (name: string) =>
          block
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const event = field('event');
        if (event) return { event, data: field('data')! };
        continue;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error('the stream has ended');
      buffer += value;
    }
  };
  const first = await next();
  expect(first.event).toBe('endpoint');
  const postRaw = (body: string) =>
    fetch(server.url + first.data, {
      method: 'POST',
      headers: { 'X-API-Key': service.key, 'Content-Type': 'application/json' },
      body,
    });
  return {
    endpoint: first.data,
    next,
    postRaw,
    post: (message: unknown) => postRaw(JSON.stringify(message)),
    close: async () => ending.abort(),
  };
}

function initialize(protocolVersion: string) {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'wire', version: '1' } },
  };
}

function listed(args: Record<string, unknown>): Record<string, unknown> {
  if (!('target_expiry' in args)) return args;
  const id = service.app.store.latestChainId(String(args.ticker), true)!;
  return { ...args, target_expiry: service.app.store.chain(id)!.series.at(-1)!.expiry };
}

/** Waits for what an event loop turn or two will bring about; the test's own time limit bounds it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}
