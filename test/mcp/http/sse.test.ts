import { describe, expect, test } from 'bun:test';
import { keepLevels } from '../../store/samples.ts';
import { eventsOf } from '../../support/event-stream.ts';
import { servedForTests } from '../../support/for-tests.ts';
import { until } from '../../support/until.ts';
import { initialize } from './messages.ts';

/** The contract's MCP endpoints over real sockets, without a client library: HTTP+SSE as in the revision 2024-11-05. */
const { server, service } = servedForTests();

describe('the wire protocol', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'honours protocol %s',
    async (protocolVersion) => {
      using stream = await openStream();
      await stream.post(initialize(protocolVersion));
      const { data } = await stream.next();
      expect(JSON.parse(data)).toMatchObject({ id: 1, result: { protocolVersion, serverInfo: { name: 'zomma' } } });
    },
  );

  test('opens with a relative endpoint and answers posts with 202', async () => {
    using stream = await openStream();
    expect(stream.endpoint).toMatch(/^\/messages\?sessionId=[\w-]{22}$/);
    const response = await stream.post({ jsonrpc: '2.0', id: 'a', method: 'ping' });
    expect(response.status).toBe(202);
    const { event, data } = await stream.next();
    expect([event, JSON.parse(data)]).toEqual(['message', { jsonrpc: '2.0', id: 'a', result: {} }]);
  });

  test.each([
    ['no name', {}, /params\.name/],
    ['a name that is not text', { name: 7 }, /params\.name/],
    ['arguments that are not an object', { name: 'calculate_kelly_sizing', arguments: [1] }, /params\.arguments/],
  ])('refuses a call with %s as an error of the caller', async (_name, params, message) => {
    using stream = await openStream();
    await stream.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params });
    expect(JSON.parse((await stream.next()).data)).toEqual({
      jsonrpc: '2.0',
      id: 5,
      error: { code: -32602, message: expect.stringMatching(message) },
    });
  });

  test.each([
    ['invalid JSON', '{'],
    ['JSON that is not JSON-RPC', '{"hello":1}'],
    ['an empty batch', '[]'],
    ['an empty body', ''],
    ['100,000 nested arrays', '['.repeat(100_000)],
  ])('answers %s with 422', async (_name, raw) => {
    using stream = await openStream();
    expect((await stream.postRaw(raw)).status).toBe(422);
  });

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/json', 202],
    ['Application/JSON; charset=utf-8', 202],
    ['application/vnd.zomma+json', 202],
  ])('answers the content type %s with %i', async (type, status) => {
    using stream = await openStream();
    expect((await stream.postRaw('{"jsonrpc":"2.0","id":1,"method":"ping"}', type)).status).toBe(status);
  });

  test('refuses a message above 1 MiB and continues the session', async () => {
    using stream = await openStream();
    const padded = (bytes: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":"${'a'.repeat(bytes)}"}}}`;
    expect((await stream.postRaw(padded(1024 * 1024))).status).toBe(413);
    expect((await stream.postRaw(padded(1024 * 1024 - 200))).status).toBe(202);
    expect(JSON.parse((await stream.next()).data)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('refuses a batch of more than 50 messages as a whole', async () => {
    using stream = await openStream();
    const batch = Array.from({ length: 51 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    expect((await stream.post(batch)).status).toBe(422);
    await stream.post({ jsonrpc: '2.0', id: 'after', method: 'ping' });
    expect(JSON.parse((await stream.next()).data).id).toBe('after');
  });

  test('refuses a POST to /sse at once, so that clients of Streamable HTTP fall back', async () => {
    const response = await fetch(`${server.url}/sse`, {
      method: 'POST',
      headers: { 'X-API-Key': service.key, 'Content-Type': 'application/json' },
      body: JSON.stringify(initialize('2025-11-25')),
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('accepts a notification and an unexpected answer, and answers neither', async () => {
    using stream = await openStream();
    for (const message of [
      { method: 'notifications/initialized' },
      { method: 'notifications/cancelled', params: { requestId: 99 } },
      { id: 7, result: {} },
      { id: 'next', method: 'ping' },
    ]) {
      expect((await stream.post({ jsonrpc: '2.0', ...message })).status).toBe(202);
    }
    expect(JSON.parse((await stream.next()).data).id).toBe('next');
  });

  test('remembers its client after an idle time: only clients whose model reads resources get links', async () => {
    for (const [name, kinds] of [
      ['test', ['text']],
      ['@langchain/mcp-adapters', ['text']],
      ['claude-code', ['text', 'resource_link', 'resource_link']],
      ['codex-mcp-client', ['text', 'resource_link', 'resource_link']],
    ] as const) {
      using stream = await openStream();
      await stream.post(initialize('2025-11-25', { name, version: '1' }));
      await stream.next();
      await stream.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const call = { name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } };
      for (const id of [1, 2]) {
        await stream.post({ jsonrpc: '2.0', id, method: 'tools/call', params: call });
        const { result } = JSON.parse((await stream.next()).data);
        expect(result.content.map(({ type }: { type: string }) => type)).toEqual([...kinds]);
      }
    }
  });

  test('reports changes that its client follows, once the client has initialized', async () => {
    const [stream, silent] = [await openStream(), await openStream()];
    await stream.post(initialize('2025-11-25'));
    await stream.next();
    await stream.post({ jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'zomma://gex/spy' } });
    expect(JSON.parse((await stream.next()).data)).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    keepLevels(service.app.store, { underlying: 'SPY', simulated: true, asOf: Date.now() });
    service.app.mcp.wake();
    expect(JSON.parse((await stream.next()).data)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'zomma://gex/SPY' },
    });
    await silent.post({ jsonrpc: '2.0', id: 'first', method: 'ping' });
    expect(JSON.parse((await silent.next()).data).id).toBe('first');
    for (const each of [stream, silent]) await each.close();
  });

  test('does not answer a canceled request, and the session continues', async () => {
    using stream = await openStream();
    const call = { name: 'run_strategic_omni_radar', arguments: { ticker: 'SPY' } };
    await stream.post([
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect(JSON.parse((await stream.next()).data).id).toBe(2);
    await stream.post({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: call });
    expect(JSON.parse((await stream.next()).data).id).toBe(3);
    expect(service.observations.filter(({ kind }) => kind === 'tool_failed')).toEqual([]);
  });

  test('refuses an initialize with invalid parameters as an error of the caller', async () => {
    using stream = await openStream();
    await stream.post({ jsonrpc: '2.0', id: 6, method: 'initialize', params: { protocolVersion: 7 } });
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ id: 6, error: { code: -32602 } });
  });

  test('answers a batch that is larger than the limit of unread data', async () => {
    using stream = await openStream();
    const calls = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    expect((await stream.post(calls)).status).toBe(202);
    const ids = [];
    for (const _ of calls) ids.push(JSON.parse((await stream.next()).data).id);
    expect(ids.toSorted((a, b) => a - b)).toEqual(calls.map(({ id }) => id));
  });

  test('an unknown session is 404, a missing one 400, one of another member 403', async () => {
    using stream = await openStream();
    const ask = (path: string, key: string) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: JSON.stringify(initialize('2025-11-25')),
      });
    const { apiKey } = await service.app.access.addMember({ uuid: '66666666-6666-4666-8666-666666666666' });
    expect((await ask('/messages?sessionId=AAAAAAAAAAAAAAAAAAAAAA', service.key)).status).toBe(404);
    expect((await ask('/messages', service.key)).status).toBe(400);
    const foreign = await ask(stream.endpoint, apiKey);
    expect(foreign.status).toBe(403);
    expect(await foreign.json()).toMatchObject({ code: 'session_foreign' });
  });

  test('a session ends when its client leaves', async () => {
    using stream = await openStream();
    expect(service.app.mcp.loaded!.sse.size).toBeGreaterThan(0);
    await stream.close();
    await until(() => service.app.mcp.loaded!.sse.size === 0);
  });
});

/** Opens a stream and reads it event by event. */
async function openStream() {
  const ending = new AbortController();
  const response = await fetch(`${server.url}/sse`, { headers: { 'X-API-Key': service.key }, signal: ending.signal });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = eventsOf(response.body!);
  const next = async () => (await events.next())!;
  const first = await next();
  expect(first.event).toBe('endpoint');
  const postRaw = (body: string, type = 'application/json') =>
    fetch(server.url + first.data, {
      method: 'POST',
      headers: { 'X-API-Key': service.key, 'Content-Type': type },
      body,
    });
  return {
    endpoint: first.data,
    next,
    postRaw,
    post: (message: unknown) => postRaw(JSON.stringify(message)),
    close: async () => ending.abort(),
    [Symbol.dispose]: () => ending.abort(),
  };
}
