import { beforeAll, describe, expect, test } from 'bun:test';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { createSessionQuota, createSubscriptionQuota } from '../../../src/mcp/http/session-quota.ts';
import { createStreamable } from '../../../src/mcp/http/streamable.ts';
import { StreamableSession } from '../../../src/mcp/http/streamable-session.ts';
import { createStreamableSessions } from '../../../src/mcp/http/streamable-sessions.ts';
import { RESOURCES } from '../../../src/mcp/resources.ts';
import { createScheduler } from '../../../src/operations/engine/scheduler.ts';
import { TOOLS } from '../../../src/operations/registry.ts';
import { createStreamRegistry, STREAM_LIMITS } from '../../../src/sse/stream-registry.ts';
import { recordOf } from '../../store/samples.ts';
import { eventsOf } from '../../support/event-stream.ts';
import { servedForTests } from '../../support/for-tests.ts';
import type { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { LISTED } from '../connect.ts';
import { headersOf, initialize, modern } from './messages.ts';

/** `/mcp` over real sockets, without a client library: the headers, sessions and statuses of Streamable HTTP in both eras. */
let stranger: string;
const { server, service } = servedForTests();
beforeAll(async () => {
  // The market was loaded after the app was made. That load is not a change.
  service.app.mcp.wake();
  stranger = (await service.app.access.addMember({ uuid: '66666666-6666-4666-8666-666666666666' })).apiKey;
});

describe('with sessions, up to 2025-11-25', () => {
  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'a session of %s works from beginning to end',
    async (revision) => {
      const begun = await post(initialize(revision));
      expect(begun.status).toBe(200);
      const session = begun.headers.get('mcp-session-id')!;
      // 128 random bits.
      expect(session).toMatch(/^[\w-]{22}$/);
      expect(await answerOf(begun)).toMatchObject({ id: 1, result: { protocolVersion: revision } });
      const within = { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': revision };
      expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, within)).status).toBe(202);
      const listed = await answerOf(await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, within));
      expect(listed.result.tools).toHaveLength(LISTED.length);
      const before = service.app.mcp.loaded!.streamable.sessions;
      expect((await send('DELETE', undefined, within)).status).toBe(200);
      expect(service.app.mcp.loaded!.streamable.sessions).toBe(before - 1);
      expect((await post({ jsonrpc: '2.0', id: 3, method: 'ping' }, within)).status).toBe(404);
    },
  );

  test('a missing session is 400, an unknown one 404, one of another member 403, for every method', async () => {
    const session = (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')!;
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? { jsonrpc: '2.0', id: 1, method: 'ping' } : undefined;
      const ask = async (headers: Record<string, string>) => {
        const response = await send(method, body, headers);
        return [response.status, ((await response.json()) as { code: string }).code];
      };
      expect(await ask({})).toEqual([400, 'invalid_parameter']);
      expect(await ask({ 'Mcp-Session-Id': 'A'.repeat(22) })).toEqual([404, 'not_found']);
      expect(await ask({ 'Mcp-Session-Id': session, 'X-API-Key': stranger })).toEqual([403, 'session_foreign']);
    }
    expect((await send('DELETE', undefined, { 'Mcp-Session-Id': session })).status).toBe(200);
  });

  test('answers with JSON; with events for progress or batches; with nothing for a canceled call', async () => {
    const session = { 'Mcp-Session-Id': (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')! };
    const call = (id: number, _meta?: object) => {
      const params = { name: 'run_strategic_omni_radar', arguments: { ticker: 'SPY' }, ...(_meta && { _meta }) };
      return { jsonrpc: '2.0', id, method: 'tools/call', params };
    };
    const cancel = (requestId: number) => ({
      ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
      params: { requestId },
    });
    const kind = (response: Response) => response.headers.get('content-type');
    const plain = await post(call(1), session);
    expect([kind(plain), (await answerOf(plain)).id]).toEqual(['application/json', 1]);
    expect(kind(await post(call(2, { progressToken: 2 }), session))).toBe('text/event-stream');
    expect(kind(await post([call(3), call(4)], session))).toBe('text/event-stream');
    // In one batch the call is canceled before its turn on any machine. The stream has only the other answer.
    const events = eventsOf((await post([call(5), call(6), cancel(5)], session)).body!);
    expect(JSON.parse((await events.next())!.data).id).toBe(6);
    const [left, taken] = await Promise.all([post(call(7), session), post(cancel(7), session)]);
    expect(taken.status).toBe(202);
    expect([200, 202]).toContain(left.status);
    expect((await post(initialize('2025-11-25'), session)).status).toBe(400);
    expect((await send('POST', null, session)).status).toBe(400);
    expect((await send('DELETE', undefined, session)).status).toBe(200);
  });

  test('a stream reports changes that the client follows, and new tickers', async () => {
    const session = { 'Mcp-Session-Id': (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')! };
    const stream = eventsOf((await send('GET', undefined, session)).body!);
    const follow = (method: string, uri: string) => post({ jsonrpc: '2.0', id: 4, method, params: { uri } }, session);
    for (const uri of ['zomma://gex/SPY', 'zomma://gex/QQQ']) {
      expect(await answerOf(await follow('resources/subscribe', uri))).toMatchObject({ result: {} });
    }
    await answerOf(await follow('resources/unsubscribe', 'zomma://gex/QQQ'));
    for (const ticker of ['IWM', 'QQQ', 'SPY']) keepMoved(ticker);
    service.app.mcp.wake();
    expect(JSON.parse((await stream.next())!.data)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'zomma://gex/SPY' },
    });
    keepMoved('NEWCO');
    service.app.mcp.wake();
    expect(JSON.parse((await stream.next())!.data).method).toBe('notifications/resources/list_changed');
    expect((await send('DELETE', undefined, session)).status).toBe(200);
    expect(await stream.next()).toBeUndefined();
  });
});

test('a client that reopens its stream gets a new one, and the old stream ends', async () => {
  const session = { 'Mcp-Session-Id': (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')! };
  const left = eventsOf((await send('GET', undefined, session)).body!);
  const again = await send('GET', undefined, session);
  expect(again.status).toBe(200);
  expect(await left.next()).toBeUndefined();
  await post({ jsonrpc: '2.0', id: 4, method: 'resources/subscribe', params: { uri: 'zomma://gex/SPY' } }, session);
  keepMoved('SPY');
  service.app.mcp.wake();
  expect(JSON.parse((await eventsOf(again.body!).next())!.data).params).toEqual({ uri: 'zomma://gex/SPY' });
  await send('DELETE', undefined, session);
});

test.each([
  ['no parameters', undefined],
  ['a revision that is not text', { protocolVersion: 5, capabilities: {}, clientInfo: { name: 'wire', version: '1' } }],
  ['no client info', { protocolVersion: '2025-11-25', capabilities: {} }],
])('refuses an initialize with %s, names the error and opens no session', async (_name, params) => {
  const before = service.app.mcp.loaded!.streamable.sessions;
  const response = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  expect((await answerOf(response)).error).toMatchObject({ code: -32602, message: expect.stringContaining('params') });
  expect(service.app.mcp.loaded!.streamable.sessions).toBe(before);
});

test('the stream of a canceled call ends', async () => {
  const session = { 'Mcp-Session-Id': (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')! };
  const params = { name: 'run_strategic_omni_radar', arguments: { ticker: 'SPY' }, _meta: { progressToken: 1 } };
  const call = await post({ jsonrpc: '2.0', id: 'radar', method: 'tools/call', params }, session);
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 'radar' } };
  expect((await post({ jsonrpc: '2.0', ...cancelled }, session)).status).toBe(202);
  // The stream has progress perhaps, and then its end. If the call was faster, the answer comes before the end.
  const events = eventsOf(call.body!);
  while (await events.next());
  await send('DELETE', undefined, session);
});

test('ends a session that gets no requests', async () => {
  const { account, deps } = depsOf(service);
  const sessions = createStreamableSessions(deps, { idleMs: 1, sweepMs: 1 });
  const response = await sessions.handle(account, requestOf(initialize('2025-11-25')), initialize('2025-11-25'));
  expect(response.status).toBe(200);
  await until(() => sessions.size === 0);
});

test('limits sessions per account and in total; a session that ends makes room', async () => {
  const { account, deps } = depsOf(service);
  const body = initialize('2025-11-25');
  for (const [limits, code] of [
    [{ accountSessionsMax: 1 }, 'too_many_streams'],
    [{ sessionsMax: 1 }, 'unavailable'],
  ] as const) {
    const sessions = createStreamableSessions(deps, limits);
    const begin = () => sessions.handle(account, requestOf(body), body);
    const id = (await begin()).headers.get('mcp-session-id')!;
    await expect(begin()).rejects.toMatchObject({ code });
    const ending = new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'Mcp-Session-Id': id } });
    expect((await sessions.handle(account, ending, undefined)).status).toBe(200);
    expect((await begin()).status).toBe(200);
    sessions.close();
    expect(sessions.size).toBe(0);
  }
});

test('if all sessions are taken, the accounts with the most give way to each further account', async () => {
  const { account, deps } = depsOf(service);
  const sessions = createStreamableSessions(deps, { sessionsMax: 10 });
  const body = initialize('2025-11-25');
  const begin = (id: string) => sessions.handle({ ...account, id }, requestOf(body), body);
  // Five accounts with two sessions each: none has more than a quarter of all.
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    for (let count = 0; count < 2; count++) expect((await begin(id)).status).toBe(200);
  }
  await expect(begin('a')).rejects.toMatchObject({ code: 'unavailable' });
  for (const id of ['f', 'g', 'h', 'i', 'j']) expect((await begin(id)).status).toBe(200);
  expect(sessions.size).toBe(10);
  await expect(begin('k')).rejects.toMatchObject({ code: 'unavailable' });
  sessions.close();
});

describe('without sessions, from 2026-07-28', () => {
  test('answers a request that carries its whole context, and opens no session', async () => {
    const before = service.app.mcp.loaded!.streamable.sessions;
    const response = await post(modern(1, 'tools/list'), headersOf('tools/list'));
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    const { result } = await answerOf(response);
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'private' });
    expect(result.tools).toHaveLength(LISTED.length);
    expect(service.app.mcp.loaded!.streamable.sessions).toBe(before);
  });

  test('answers server/discover', async () => {
    const { result } = await answerOf(await post(modern(1, 'server/discover'), headersOf('server/discover')));
    expect(result.supportedVersions).toEqual(['2026-07-28']);
    expect(result.capabilities).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      experimental: { 'zomma/registry': { version: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    });
  });

  test('a stream reports changes that it listens for, until its key is revoked', async () => {
    const uuid = '77777777-7777-4777-8777-777777777777';
    const { apiKey } = await service.app.access.addMember({ uuid });
    const notifications = { resourceSubscriptions: ['zomma://gex/SPY'] };
    const response = await post(modern(5, 'subscriptions/listen', { notifications }), {
      ...headersOf('subscriptions/listen'),
      'X-API-Key': apiKey,
    });
    const stream = eventsOf(response.body!);
    expect(JSON.parse((await stream.next())!.data)).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications },
    });
    for (const ticker of ['IWM', 'SPY']) keepMoved(ticker);
    service.app.mcp.wake();
    expect(JSON.parse((await stream.next())!.data)).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'zomma://gex/SPY' },
    });
    await service.app.access.revoke(uuid);
    expect(await stream.next()).toBeUndefined();
  });

  test('normalizes the resources to listen for, drops unknown ones, and limits their number to 1,000', async () => {
    const listen = async (resourceSubscriptions: string[]) =>
      post(
        modern(5, 'subscriptions/listen', { notifications: { resourceSubscriptions } }),
        headersOf('subscriptions/listen'),
      );
    const response = await listen(['zomma://gex/qqq', 'zomma://bogus', 'zomma://gex/QQQ']);
    const stream = eventsOf(response.body!);
    const { params } = JSON.parse((await stream.next())!.data);
    expect(params.notifications).toEqual({ resourceSubscriptions: ['zomma://gex/QQQ'] });
    keepMoved('QQQ');
    service.app.mcp.wake();
    expect(JSON.parse((await stream.next())!.data).params.uri).toBe('zomma://gex/QQQ');
    const many = Array.from({ length: 1_001 }, (_, i) => `zomma://gex/T${i}`);
    expect((await listen(many)).status).toBe(422);
  });

  test('counts all resources that an account listens for while its streams are open', async () => {
    const { account, deps } = depsOf(service);
    const counted = { ...deps, quota: { ...deps.quota, subscriptions: createSubscriptionQuota(2, 3) } };
    const streamable = createStreamable(counted);
    const open = (id: string, ...tickers: string[]) => {
      const resourceSubscriptions = tickers.map((ticker) => `zomma://gex/${ticker}`);
      const body = modern(1, 'subscriptions/listen', { notifications: { resourceSubscriptions } });
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: headers(headersOf('subscriptions/listen')),
        body: JSON.stringify(body),
      });
      return streamable.handle({ ...account, id }, request, body);
    };
    const first = await open('a', 'SPY', 'QQQ', 'spy');
    expect(first.status).toBe(200);
    await expect(open('a', 'IWM')).rejects.toMatchObject({ code: 'too_many_streams' });
    await expect(open('b', 'SPY', 'QQQ')).rejects.toMatchObject({ code: 'unavailable' });
    await first.body!.cancel();
    expect((await open('a', 'IWM')).status).toBe(200);
    deps.streams.close();
    await streamable.close();
  });

  test('refuses a header that contradicts the body', async () => {
    const response = await post(modern(1, 'tools/list'), headersOf('tools/call'));
    expect([response.status, (await answerOf(response)).error.code]).toEqual([400, -32020]);
  });
});

describe('in both eras', () => {
  test.each([
    ['X-API-Key', {}],
    ['Authorization', { 'X-API-Key': null, Authorization: 'Bearer (key)' }],
    ['Authorization in lower case', { 'X-API-Key': null, Authorization: 'bearer  (key)' }],
  ])('takes the key as %s', async (_name, headers) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value?.replace('(key)', service.key)]),
    );
    expect((await post(initialize('2025-11-25'), given)).status).toBe(200);
  });

  test.each([
    ['no key', 401, { 'X-API-Key': null }],
    ['a wrong key', 403, { 'X-API-Key': 'ZOMMA_0000000000000000' }],
    ['a wrong bearer token', 403, { 'X-API-Key': null, Authorization: 'Bearer ZOMMA_0000000000000000' }],
    ['another scheme', 401, { 'X-API-Key': null, Authorization: 'Basic QTpC' }],
    ['a page of another origin', 403, { Origin: 'https://evil.example' }],
    ['a page without an origin', 403, { Origin: 'null' }],
    ['a foreign host', 403, { Host: 'evil.example' }],
  ])('%s is %i', async (_name, status, headers) => {
    for (const body of [initialize('2025-11-25'), modern(1, 'tools/list')]) {
      expect((await post(body, headers)).status).toBe(status);
    }
  });

  test.each([
    ['invalid JSON', '{', 400, -32700],
    ['an empty body', '', 400, -32700],
    ['100,000 nested arrays', '['.repeat(100_000), 400, -32700],
    ['JSON that is not JSON-RPC', '{"hello":1}', 400, undefined],
    ['an empty batch', '[]', 422, undefined],
    ['a batch of 51', JSON.stringify(Array(51).fill({ jsonrpc: '2.0', id: 1, method: 'ping' })), 422, undefined],
    ['more than 1 MiB', ' '.repeat(1024 * 1024 + 1), 413, undefined],
  ])('%s is refused', async (_name, raw, status, code) => {
    const response = await fetch(`${server.url}/mcp`, { method: 'POST', headers: headers({}), body: raw });
    expect(response.status).toBe(status);
    if (code) expect(((await response.json()) as { error: { code: number } }).error.code).toBe(code);
  });

  test('another content type is 415, other methods are 405', async () => {
    const plain = await post(initialize('2025-11-25'), { 'Content-Type': 'text/plain' });
    expect(plain.status).toBe(415);
    for (const method of ['PUT', 'PATCH', 'HEAD']) {
      const response = await send(method, undefined, {});
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, POST, DELETE']);
    }
  });
});

test('on a stop, calls under way get their answers, then all sessions and streams end', async () => {
  const session = { 'Mcp-Session-Id': (await post(initialize('2025-11-25'))).headers.get('mcp-session-id')! };
  const stream = eventsOf((await send('GET', undefined, session)).body!);
  const [name, _meta] = ['run_strategic_omni_radar', { progressToken: 1 }];
  const params = { name, arguments: { ticker: 'META' }, _meta };
  const inNewEra = modern(9, 'tools/call', params);
  // Each answer begins with the progress of its first step.
  const begun = await Promise.all([
    ...[1, 2, 3, 4].map((id) => post({ jsonrpc: '2.0', id, method: 'tools/call', params }, session)),
    post(
      { ...inNewEra, params: { ...inNewEra.params, _meta: { ...inNewEra.params._meta, ..._meta } } },
      { ...headersOf('tools/call'), 'Mcp-Name': name },
    ),
  ]);
  await service.app.mcp.close();
  for (const response of begun) {
    const events = eventsOf(response.body!);
    let last: string | undefined;
    for (let event = await events.next(); event; event = await events.next()) last = event.data;
    expect(JSON.parse(last!).result.structuredContent.ticker).toBe('META');
  }
  expect(await stream.next()).toBeUndefined();
  expect(service.app.mcp.loaded!.streamable.sessions).toBe(0);
});

type Given = Readonly<Record<string, string | null | undefined>>;

function headers(given: Given): Record<string, string> {
  const all = {
    'X-API-Key': service.key,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...given,
  };
  return Object.fromEntries(
    Object.entries(all).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}

function send(method: string, body: unknown, given: Given): Promise<Response> {
  return fetch(`${server.url}/mcp`, {
    method,
    headers: headers(given),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

function post(body: unknown, given: Given = {}): Promise<Response> {
  return send('POST', body, given);
}

/** Returns the only answer of a response, which is JSON or a stream. */
async function answerOf(response: Response) {
  if (response.headers.get('content-type')?.startsWith('application/json')) return (await response.json()) as Answer;
  return JSON.parse((await eventsOf(response.body!).next())!.data) as Answer;
}

// biome-ignore lint/suspicious/noExplicitAny: read by what each test expects.
type Answer = Record<string, any>;

function requestOf(body: unknown): Request {
  return new Request('http://localhost/mcp', { method: 'POST', headers: headers({}), body: JSON.stringify(body) });
}

/** The parts that transports need, beside those of the service. */
function depsOf({ app, key }: Service) {
  const { context } = app;
  const observe = () => {};
  const deps = {
    ...{ context, observe, version: '0', tools: () => TOOLS, resources: RESOURCES, scheduler: createScheduler() },
    ...{
      streams: createStreamRegistry(STREAM_LIMITS),
      quota: createSessionQuota(Date.now),
      bus: new InMemoryServerEventBus(),
    },
  };
  return { account: app.access.authenticate(key), deps };
}

/** Stores a snapshot one second later than the newest, with its levels. */
function keepMoved(ticker: string): void {
  const { store } = service.app;
  const id = store.latestChainId(ticker, true) ?? store.latestChainId('SPY', true)!;
  const chain = store.chain(id)!;
  store.saveChain({ ...chain, underlying: ticker, asOf: chain.asOf + 1_000 });
  const [due] = store.levelsDue();
  store.saveLevels(due!, { ...recordOf(), underlying: ticker, asOf: chain.asOf + 1_000, simulated: true });
}

test('a refused batch leaves no pending messages', async () => {
  const { account, deps } = depsOf(service);
  const busy = { ...deps, scheduler: createScheduler({ accountJobsMax: 0 }) };
  const session = new StreamableSession('id', account, busy);
  const batch = [initialize('2025-03-26'), { ...initialize('2025-03-26'), id: 2 }];
  await expect(session.post(requestOf(batch), batch)).rejects.toMatchObject({ code: 'too_many_requests' });
  expect((session as unknown as { posts: Map<unknown, unknown> }).posts.size).toBe(0);
});
