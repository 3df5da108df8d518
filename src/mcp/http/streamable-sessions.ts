import {
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { Failure } from '../../errors.ts';
import { notificationOf } from '../change-notification.ts';
import { createMcpServer } from '../server.ts';
import { held } from './held-stream.ts';
import { newSessionId } from './session-id.ts';
import { SignsOfLife } from './signs-of-life.ts';
import type { TransportParts } from './transport-parts.ts';

interface IdleTiming {
  /** A session that nobody has asked anything of for so long is forgotten; its client is told 404, and begins a new one. */
  readonly idleMs: number;
  /** How often that is looked at. */
  readonly sweepMs: number;
}

const IDLE_TIMING: IdleTiming = { idleMs: 30 * 60_000, sweepMs: 60_000 };
/** Each keeps a protocol engine in memory. */
const SESSIONS_MAX = 16_000;
const ACCOUNT_SESSIONS_MAX = 10_000;

interface Session {
  readonly account: Account;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly life: SignsOfLife;
  readonly followed: ReadonlySet<string>;
}

/** Streamable HTTP with sessions, as clients speak it up to 2025-11-25. A session answers only to the account that opened it. */
export interface StreamableSessions {
  handle(account: Account, request: Request, body: unknown): Promise<Response>;
  close(): void;
  readonly size: number;
}

export function createStreamableSessions(
  parts: TransportParts,
  { idleMs, sweepMs }: IdleTiming = IDLE_TIMING,
): StreamableSessions {
  const { watch, quota, bus } = parts;
  const sessions = new Map<string, Session>();
  const counts = new Map<string, number>();
  let sweeping: ReturnType<typeof setInterval> | undefined;

  bus.subscribe((event) => {
    for (const { transport, followed } of sessions.values()) {
      const told = notificationOf(event, followed);
      if (told) void transport.send(told);
    }
  });

  const sweep = (): void => {
    const nowMs = performance.now();
    for (const { life, server } of sessions.values()) if (life.unheardMs(nowMs) >= idleMs) void server.close();
  };

  const forget = (id: string): void => {
    const session = sessions.get(id);
    if (!session) return;
    sessions.delete(id);
    const account = session.account.id;
    counts.set(account, counts.get(account)! - 1);
    if (counts.get(account) === 0) counts.delete(account);
    if (sessions.size === 0) clearInterval(sweeping);
    parts.observe({ kind: 'session_closed', account, sessions: sessions.size });
  };

  const begin = async (account: Account): Promise<Session['transport']> => {
    refuseTooMany(sessions.size, counts.get(account.id) ?? 0);
    quota.take(account.id);
    const followed = new Set<string>();
    const server = createMcpServer(parts, { account, followed });
    const life = new SignsOfLife();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newSessionId,
      keepAliveMs: 0,
      onsessioninitialized(id) {
        if (sessions.size === 0) sweeping = setInterval(sweep, sweepMs);
        sessions.set(id, { account, server, transport, life, followed });
        counts.set(account.id, (counts.get(account.id) ?? 0) + 1);
        parts.observe({ kind: 'session_opened', account: account.id, sessions: sessions.size });
      },
    });
    transport.onclose = () => transport.sessionId && forget(transport.sessionId);
    await server.connect(transport);
    return transport;
  };

  return {
    async handle(account, request, body) {
      const id = request.headers.get('mcp-session-id');
      if (id === null && isInitializing(body))
        return (await begin(account)).handleRequest(request, { parsedBody: body });
      const { transport, server, life } = sessionOf(sessions, account, id);
      life.heard();
      if (request.method !== 'GET') return transport.handleRequest(request, { parsedBody: body });
      watch.refuseTooMany(account);
      // A client that comes back may have left a connection behind which nobody has seen end yet.
      transport.closeStandaloneSSEStream();
      return held(await transport.handleRequest(request), account, parts, {
        isSilent: (nowMs) => life.isSilent(nowMs),
        ask: (nowMs) => life.shallAsk(nowMs) && void server.ping().catch(() => {}),
      });
    },
    close() {
      for (const { server } of sessions.values()) void server.close();
    },
    get size() {
      return sessions.size;
    },
  };
}

function isInitializing(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body);
}

function sessionOf(sessions: ReadonlyMap<string, Session>, account: Account, id: string | null): Session {
  if (id === null) {
    throw new Failure('invalid_parameter', 'The Mcp-Session-Id header is missing', {
      hint: 'Begin with an initialize request; its answer has the header. From 2026-07-28 on, send the MCP-Protocol-Version header.',
      faults: [{ field: '/Mcp-Session-Id', expected: 'must be given' }],
    });
  }
  const session = sessions.get(id);
  if (!session) {
    throw new Failure('not_found', 'There is no such session', { hint: 'Begin a new one with an initialize request.' });
  }
  if (session.account.id !== account.id) {
    throw new Failure('session_foreign', 'This session was opened with another key', {
      hint: 'Send the key that opened it.',
    });
  }
  return session;
}

function refuseTooMany(sessions: number, own: number): void {
  if (own >= ACCOUNT_SESSIONS_MAX) {
    throw new Failure('too_many_streams', `This account has ${ACCOUNT_SESSIONS_MAX} sessions open, the most it may`, {
      hint: 'End sessions with DELETE, or use one for many calls.',
    });
  }
  if (sessions >= SESSIONS_MAX) {
    throw new Failure('unavailable', 'No more sessions can be opened now', { hint: 'Retry later.' });
  }
}
