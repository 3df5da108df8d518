import { afterAll, beforeAll, expect, test } from 'bun:test';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import type { Account } from '../../../src/access/access.ts';
import { guardResponse } from '../../../src/mcp/http/guarded-stream.ts';
import { createSessionQuota } from '../../../src/mcp/http/session-quota.ts';
import { createSseSessions } from '../../../src/mcp/http/sse.ts';
import { createStreamable } from '../../../src/mcp/http/streamable.ts';
import type { TransportDeps } from '../../../src/mcp/http/transport-deps.ts';
import { RESOURCES } from '../../../src/mcp/resources.ts';
import { createScheduler } from '../../../src/operations/engine/scheduler.ts';
import { TOOLS } from '../../../src/operations/registry.ts';
import { createStreamRegistry, STREAM_LIMITS, type StreamRegistry } from '../../../src/sse/stream-registry.ts';
import { type Service, startService } from '../../support/service.ts';
import { headersOf, initialize, modern } from './messages.ts';

/** The stream registry has the streams of every transport while they are open, and not longer. */
let service: Service;
let account: Account;
beforeAll(async () => {
  service = await startService();
  account = service.app.access.authenticate(service.key);
});
afterAll(() => service.close());

function depsWith(limits: Partial<typeof STREAM_LIMITS> = {}): TransportDeps & { streams: StreamRegistry } {
  return {
    ...{ context: service.app.context, version: '0', observe: () => {}, tools: () => TOOLS, resources: RESOURCES },
    ...{ scheduler: createScheduler(), streams: createStreamRegistry({ ...STREAM_LIMITS, ...limits }) },
    ...{ quota: createSessionQuota(Date.now, 2), bus: new InMemoryServerEventBus() },
  };
}

test('a stream of HTTP+SSE leaves the registry with its client, and ends its session', async () => {
  const deps = depsWith();
  const sessions = createSseSessions(deps);
  const { body } = await sessions.open(account);
  expect([deps.streams.size, sessions.size]).toEqual([1, 1]);
  await body!.cancel();
  expect([deps.streams.size, sessions.size]).toEqual([0, 0]);
});

test('a stream of the SDK leaves the registry with its client, and the SDK is notified', async () => {
  const deps = depsWith();
  const cancelled = Promise.withResolvers<void>();
  const source = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() });
  const { body } = guardResponse(
    new Response(source, { headers: { 'Content-Type': 'text/event-stream' } }),
    account,
    deps,
  );
  expect(deps.streams.size).toBe(1);
  await body!.cancel();
  await cancelled.promise;
  expect(deps.streams.size).toBe(0);
});

test('the stream limit covers both transports', async () => {
  const deps = depsWith({ accountStreamsMax: 1 });
  const sessions = createSseSessions(deps);
  await sessions.open(account);
  await expect(sessions.open(account)).rejects.toMatchObject({ code: 'too_many_streams' });
  const streamable = createStreamable(deps);
  await expect(streamable.handle(account, listenRequest(), LISTEN)).rejects.toMatchObject({ code: 'too_many_streams' });
  deps.streams.close();
});

test('the limit of sessions per day covers both transports together', async () => {
  const deps = depsWith();
  const sessions = createSseSessions(deps);
  for (const _ of [1, 2]) await (await sessions.open(account)).body!.cancel();
  await expect(sessions.open(account)).rejects.toMatchObject({ code: 'rate_limited' });
  await expect(createStreamable(deps).handle(account, post(INITIALIZE), INITIALIZE)).rejects.toMatchObject({
    code: 'rate_limited',
  });
});

const LISTEN = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
const INITIALIZE = initialize('2025-11-25');

function post(body: unknown, headers: Record<string, string> = {}): Request {
  const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { ...accept, ...headers },
    body: JSON.stringify(body),
  });
}

function listenRequest(): Request {
  return post(LISTEN, headersOf('subscriptions/listen'));
}
