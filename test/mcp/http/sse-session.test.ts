import { expect, test } from 'bun:test';
import type { Server } from '@modelcontextprotocol/server';
import type { Account } from '../../../src/access/access.ts';
import { SseSession } from '../../../src/mcp/http/sse-session.ts';
import { eventsOf } from '../../support/event-stream.ts';

/** Liveness of a client, tested with a clock that runs ahead. */
const ACCOUNT: Account = { id: 'a', tier: 'member', expiresAt: null, isAdmitted: () => true };
const MINUTE_MS = 60_000;

/** An SDK server that never answers. */
const MUTE = {
  connect: async (session: SseSession) => {
    session.onmessage = () => {};
  },
  getClientVersion: () => undefined,
} as unknown as Server;

test('an SDK server exists while a request is under way: until it is answered or canceled', async () => {
  const session = new SseSession({ account: ACCOUNT, endpoint: '/x', createServer: () => MUTE, onEnd: () => {} });
  for (const end of [
    () => session.send({ jsonrpc: '2.0', id: 1, result: {} }),
    async () => session.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
  ]) {
    expect(session.onmessage).toBeUndefined();
    session.receive({ jsonrpc: '2.0', id: 1, method: 'ping' });
    session.receive({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await end();
    expect(session.onmessage).toBeDefined();
    await session.send({ jsonrpc: '2.0', id: 2, result: {} });
  }
  expect(session.onmessage).toBeUndefined();
});

function open() {
  const session = new SseSession({
    account: ACCOUNT,
    endpoint: '/messages?sessionId=x',
    createServer: () => {
      throw new Error('nothing was asked');
    },
    onEnd: () => {},
  });
  return { session, events: eventsOf(session.body) };
}

const BEGUN = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

test('pings a client once after minutes of silence, and gives it up if it does not answer', async () => {
  const { session, events } = open();
  session.receive(BEGUN);
  const nowMs = performance.now();
  for (const minutes of [1.9, 2.1, 2.5]) session.ping(nowMs + minutes * MINUTE_MS);
  expect((await events.next())!.event).toBe('endpoint');
  expect(JSON.parse((await events.next())!.data)).toEqual({ jsonrpc: '2.0', id: 'zomma-ping', method: 'ping' });
  expect(session.isSilent(nowMs + 3 * MINUTE_MS)).toBe(false);
  expect(session.isSilent(nowMs + 3.2 * MINUTE_MS)).toBe(true);
  session.end('silent');
  expect(await events.next()).toBeUndefined();
  expect(events.others).toEqual([': ping', ': ping', 'retry: 2000']);
});

test('does not ping a client that never sends anything, and gives it 15 min to begin', async () => {
  const { session, events } = open();
  const nowMs = performance.now();
  session.ping(nowMs + 10 * MINUTE_MS);
  expect(session.isSilent(nowMs + 14.9 * MINUTE_MS)).toBe(false);
  expect(session.isSilent(nowMs + 15 * MINUTE_MS)).toBe(true);
  session.end('silent');
  expect((await events.next())!.event).toBe('endpoint');
  expect(await events.next()).toBeUndefined();
});

test.each([
  ['answers', { jsonrpc: '2.0', id: 'zomma-ping', result: {} }],
  ['sends any message', BEGUN],
] as const)('a client that %s is alive', (_name, message) => {
  const { session } = open();
  session.receive(BEGUN);
  session.ping(performance.now() + 2.1 * MINUTE_MS);
  session.receive(message);
  expect(session.isSilent(performance.now() + 60 * MINUTE_MS)).toBe(false);
});
