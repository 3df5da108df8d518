import { expect, test } from 'bun:test';
import type { Account } from '../../src/access/access.ts';
import { SseSession } from '../../src/mcp/sse-session.ts';
import { eventsOf } from '../support/event-stream.ts';

/** Whether somebody is there: looked at with a clock that is ahead. */
const ACCOUNT: Account = { id: 'a', tier: 'member', isAdmitted: () => true };
const MINUTE_MS = 60_000;

function open() {
  const session = new SseSession({
    account: ACCOUNT,
    endpoint: '/messages?sessionId=x',
    createServer: () => {
      throw new Error('nothing was asked');
    },
    ended: () => {},
  });
  return { session, events: eventsOf(session.body) };
}

test('a client that says nothing for minutes is asked once, and given up where it does not answer', async () => {
  const { session, events } = open();
  const nowMs = performance.now();
  session.ping(nowMs + 4 * MINUTE_MS);
  session.ping(nowMs + 5 * MINUTE_MS + 1);
  session.ping(nowMs + 5.5 * MINUTE_MS);
  expect((await events.next())!.event).toBe('endpoint');
  expect(JSON.parse((await events.next())!.data)).toEqual({ jsonrpc: '2.0', id: 'zomma-ping', method: 'ping' });
  expect(session.isSilent(nowMs + 5.9 * MINUTE_MS)).toBe(false);
  expect(session.isSilent(nowMs + 6 * MINUTE_MS + 1)).toBe(true);
  session.end('silent');
  expect(await events.next()).toBeUndefined();
  expect(events.others).toEqual([': ping', ': ping', 'retry: 2000']);
});

test.each([
  ['answers', { jsonrpc: '2.0', id: 'zomma-ping', result: {} }],
  ['says anything', { jsonrpc: '2.0', method: 'notifications/initialized' }],
] as const)('a client that %s is there', (_name, message) => {
  const { session } = open();
  session.ping(performance.now() + 5 * MINUTE_MS + 1);
  session.receive(message);
  expect(session.isSilent(performance.now() + 60 * MINUTE_MS)).toBe(false);
});
