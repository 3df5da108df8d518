import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { sseResponse } from '../../sse/sse-format.ts';
import { notificationOf } from '../change-publisher.ts';
import { BatchDelivery, batchOf, invalidMessages } from './batch.ts';
import { newSessionId, type SessionIdField, sessionOf } from './session-of.ts';
import { SubscribedResources } from './session-quota.ts';
import { SseSession } from './sse-session.ts';
import type { TransportDeps } from './transport-deps.ts';

/** Creates the sessions of the two HTTP+SSE endpoints. A session ends with its stream. A session can be used only by its own account. */
export function createSseSessions(deps: TransportDeps) {
  const { streams, quota, bus } = deps;
  const sessions = new Map<string, SseSession>();
  bus.subscribe((event) => {
    for (const session of sessions.values()) {
      const notification = session.hasBegun && notificationOf(event, session.subscribed);
      if (notification) void session.send(notification);
    }
  });
  return {
    /** Opens a session. Its first event is the URL for POSTs. Throws `ClientError` (429 or 503) at a limit of streams or sessions. */
    async open(account: Account, request?: Request) {
      const { createMcpServer } = await import('./sdk.ts');
      streams.assertCapacity(account);
      quota.take(account.id);
      const id = newSessionId();
      const session = new SseSession({
        account,
        peer: request && deps.peerOf?.(request),
        subscribed: new SubscribedResources(quota.subscriptions, account.id),
        endpoint: `${deps.basePath ?? ''}/messages?sessionId=${id}`,
        createServer: (each) => createMcpServer(deps, each),
        onEnd: () => {
          streams.remove(session);
          sessions.delete(id);
          deps.observe({ kind: 'session_closed', account: account.id, sessions: sessions.size });
        },
      });
      sessions.set(id, session);
      streams.add(session);
      deps.observe({ kind: 'session_opened', account: account.id, sessions: sessions.size });
      return sseResponse(session.body);
    },
    /**
     * Returns a session. Throws `ClientError`: 400 without an id, 404 for an unknown id, 403 for another account. `receive` throws
     * `ClientError`: 422 for a body without valid messages, 429 for a batch above the rate limit.
     */
    session(account: Account, sessionId: string | null) {
      const session = sessionOf(sessions, account, sessionId, SESSION_ID_FIELD);
      return {
        async receive(body: unknown) {
          const { parseJSONRPCMessage } = await import('./sdk.ts');
          const [first, ...others] = messagesOf(body, parseJSONRPCMessage);
          // The rate limit has already counted the HTTP request, which includes the first message.
          if (others.length > 0) deps.charge?.(account, others.length);
          session.receive(first!);
          const delivery = new BatchDelivery<JSONRPCMessage>(deps, account, (message) => session.receive(message));
          for (const message of others) delivery.add(message);
          return new Response('Accepted', { status: 202, headers: { 'Content-Type': 'text/plain' } });
        },
      };
    },
    get size() {
      return sessions.size;
    },
  };
}

const SESSION_ID_FIELD: SessionIdField = {
  what: 'query parameter sessionId',
  field: '/sessionId',
  missing: 'Post to the address of the endpoint event.',
  unknown: 'Open a new stream with GET /sse.',
};

function messagesOf(body: unknown, parse: (each: unknown) => JSONRPCMessage): JSONRPCMessage[] {
  try {
    return batchOf(body).map((each) => parse(each));
  } catch {
    // The SDK's error would list the issues of its validator as JSON.
    throw invalidMessages();
  }
}
