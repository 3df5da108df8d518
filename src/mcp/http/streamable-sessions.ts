import type { Account } from '../../access/access.ts';
import { AccountCounts } from '../../access/account-counts.ts';
import { ClientError } from '../../core/errors.ts';
import { notificationOf } from '../change-publisher.ts';
import { isEventStream } from './guarded-stream.ts';
import { isPlainInitialized, plainCallOf, plainInitializeOf, plainListOf } from './plain-call.ts';
import { newSessionId, type SessionIdField, sessionOf } from './session-of.ts';
import { StreamableSession } from './streamable-session.ts';
import type { TransportDeps } from './transport-deps.ts';

interface SessionLimits {
  /** The time without a request after which a session ends. Later requests get the status 404, and the client opens a new session. */
  readonly idleMs: number;
  /** Interval between two searches for idle sessions. */
  readonly sweepMs: number;
  readonly sessionsMax: number;
  readonly accountSessionsMax: number;
}

const LIMITS: SessionLimits = {
  idleMs: 30 * 60_000,
  sweepMs: 60_000,
  sessionsMax: 40_000,
  accountSessionsMax: 10_000,
};

/** Creates Streamable HTTP with sessions, for clients up to revision 2025-11-25. Only the account that opened a session can use it. */
export function createStreamableSessions(deps: TransportDeps, limits: Partial<SessionLimits> = {}) {
  const { quota, bus } = deps;
  const { idleMs, sweepMs, sessionsMax, accountSessionsMax } = { ...LIMITS, ...limits };
  const sessions = new Map<string, StreamableSession>();
  const counts = new AccountCounts();
  let sweepTimer: ReturnType<typeof setInterval> | undefined;

  bus.subscribe((event) => {
    for (const session of sessions.values()) {
      const notification = notificationOf(event, session.subscribed);
      if (notification) session.notify(notification);
    }
  });

  const sweep = (): void => {
    const nowMs = performance.now();
    for (const session of sessions.values()) if (session.liveness.idleMs(nowMs) >= idleMs) end(session);
  };

  const end = (session: StreamableSession): void => {
    if (!sessions.delete(session.id)) return;
    const account = session.account.id;
    counts.remove(account);
    if (sessions.size === 0) clearInterval(sweepTimer);
    session.end();
    deps.observe({ kind: 'session_closed', account, sessions: sessions.size });
  };

  /** Ends the session with the longest idle time of the account that gives way to an account, if there is one. */
  const makeRoom = (accountId: string): void => {
    const giving = counts.accountGivingWay(sessionsMax, accountId);
    if (giving === undefined) return;
    const nowMs = performance.now();
    let idlest: StreamableSession | undefined;
    for (const session of sessions.values()) {
      if (session.account.id !== giving) continue;
      if (!idlest || session.liveness.idleMs(nowMs) > idlest.liveness.idleMs(nowMs)) idlest = session;
    }
    if (idlest) end(idlest);
  };

  const openSession = async (account: Account, request: Request, body: unknown): Promise<Response> => {
    if (counts.of(account.id) >= accountSessionsMax) {
      throw new ClientError('too_many_streams', `This account has ${accountSessionsMax} sessions open, the maximum`, {
        hint: 'End sessions with DELETE, or use one session for many calls.',
      });
    }
    if (sessions.size >= sessionsMax) makeRoom(account.id);
    if (sessions.size >= sessionsMax) {
      throw new ClientError('unavailable', 'No more sessions can be opened now', { hint: 'Retry later.' });
    }
    quota.take(account.id);
    const session = new StreamableSession(newSessionId(), account, deps);
    const plain = plainInitializeOf(request, body);
    const response = plain ? session.begin(plain) : await session.post(request, body);
    // If a session has not begun, its first request was rejected or had invalid parameters.
    if (!session.hasBegun && !isEventStream(response)) return response;
    if (sessions.size === 0) sweepTimer = setInterval(sweep, sweepMs);
    sessions.set(session.id, session);
    counts.add(account.id);
    deps.observe({ kind: 'session_opened', account: account.id, sessions: sessions.size });
    return response;
  };

  return {
    /** Answers a plain message without the SDK. Returns `undefined` for any other request, which the caller passes to `handle`. */
    plain(account: Account, request: Request, body: unknown): Response | Promise<Response> | undefined {
      if (plainInitializeOf(request, body)) return openSession(account, request, body);
      const call = plainCallOf(request, body);
      const listId = call ? undefined : plainListOf(request, body);
      if (!call && listId === undefined && !isPlainInitialized(request, body)) return undefined;
      const session = sessions.get(request.headers.get('mcp-session-id') ?? '');
      if (session?.account.id !== account.id || !session.hasBegun) return undefined;
      if (call && !deps.tools().some(({ name }) => name === call.name)) return undefined;
      session.liveness.touch();
      if (call) return session.call(request, call);
      if (listId !== undefined) return session.list(listId);
      deps.streams.assertCapacity(account);
      return new Response(null, { status: 202 });
    },
    async handle(account: Account, request: Request, body: unknown) {
      const id = request.headers.get('mcp-session-id');
      if (id === null && isInitializing(body)) return openSession(account, request, body);
      const session = sessionOf(sessions, account, id, SESSION_ID_FIELD);
      session.liveness.touch();
      if (request.method === 'GET') return session.listen(request);
      if (request.method === 'POST') return isInitializing(body) ? alreadyInitialized() : session.post(request, body);
      end(session);
      return new Response(null, { status: 200 });
    },
    close() {
      for (const session of sessions.values()) end(session);
    },
    get size() {
      return sessions.size;
    },
  };
}

/** Checks only the method's name. The SDK reports any other fault of the request. */
function isInitializing(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(isInitializing);
  return (body as { method?: unknown } | null)?.method === 'initialize';
}

function alreadyInitialized(): Response {
  const error = { code: -32_600, message: 'Invalid Request: Server already initialized' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

const SESSION_ID_FIELD: SessionIdField = {
  what: 'Mcp-Session-Id header',
  field: '/Mcp-Session-Id',
  missing:
    'Send an initialize request. The answer to that request has the header. From revision 2026-07-28 on, send the MCP-Protocol-Version header instead.',
  unknown: 'Open a new session with an initialize request.',
};
