import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import { createMcpServer, type McpParts } from './server.ts';
import { SseTransport } from './sse-transport.ts';

/** Sessions of all accounts together: each holds a stream and a protocol engine in memory. */
const SESSIONS_MAX = 10_000;
/** Sessions of one account: it must not take them all. */
const ACCOUNT_SESSIONS_MAX = 2_000;
/** Messages of one batch (2025-03-26 allows them). */
const BATCH_MAX = 50;

interface Session {
  readonly account: Account;
  readonly transport: SseTransport;
}

export interface SseSessions {
  /** Opens a session for an account; its first event names the address to post to. */
  open(account: Account): Response;
  /** Takes a parsed body for a session of this account. Throws `Failure`: 400, 403, 404, 422. */
  receive(account: Account, sessionId: string | null, body: unknown): Response;
  /** Ends every stream. */
  close(): Promise<void>;
  readonly size: number;
}

/** The contract's MCP endpoint pair. A session answers only to the account that opened it. */
export function createSseSessions(parts: McpParts): SseSessions {
  const sessions = new Map<string, Session>();
  return {
    open(account) {
      const own = [...sessions.values()].filter((each) => each.account.id === account.id).length;
      if (own >= ACCOUNT_SESSIONS_MAX) {
        throw new Failure('too_many_streams', 'This account has too many streams open', {
          hint: 'Close idle streams.',
        });
      }
      if (sessions.size >= SESSIONS_MAX) {
        throw new Failure('unavailable', 'No more streams can be opened now', {
          hint: 'Close idle streams, or retry later.',
        });
      }
      const id = newSessionId();
      const transport = new SseTransport(`/messages?sessionId=${id}`);
      const server = createMcpServer(parts);
      server.onclose = () => {
        sessions.delete(id);
        parts.observe({ kind: 'session_closed', account: account.id, sessions: sessions.size });
      };
      void server.connect(transport);
      sessions.set(id, { account, transport });
      parts.observe({ kind: 'session_opened', account: account.id, sessions: sessions.size });
      return new Response(transport.stream, {
        headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
      });
    },
    receive(account, sessionId, body) {
      const { transport } = sessionOf(sessions, account, sessionId);
      for (const message of messagesOf(body)) {
        const answer = refusalOf(message);
        if (answer) void transport.send(answer);
        else transport.onmessage?.(message);
      }
      return new Response('Accepted', { status: 202, headers: { 'Content-Type': 'text/plain' } });
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
    get size() {
      return sessions.size;
    },
  };
}

function sessionOf(sessions: ReadonlyMap<string, Session>, account: Account, sessionId: string | null): Session {
  if (!sessionId) {
    throw new Failure('invalid_parameter', 'The query parameter sessionId is missing', {
      hint: 'Post to the address of the endpoint event.',
      faults: [{ field: '/sessionId', expected: 'must be given' }],
    });
  }
  const session = sessions.get(sessionId);
  if (!session) {
    throw new Failure('not_found', 'There is no such session', { hint: 'Open a new stream with GET /sse.' });
  }
  if (session.account.id !== account.id) {
    throw new Failure('session_foreign', 'This session was opened with another key', {
      hint: 'Send the key that opened the stream.',
    });
  }
  return session;
}

function messagesOf(body: unknown): JSONRPCMessage[] {
  const batch = Array.isArray(body) ? body : [body];
  const parsed = batch.length > BATCH_MAX ? [] : batch.map((each) => JSONRPCMessageSchema.safeParse(each));
  if (parsed.length === 0 || parsed.some(({ success }) => !success)) {
    throw new Failure('invalid_body', 'The body is not a JSON-RPC 2.0 message', {
      hint: `Send {"jsonrpc":"2.0","id":1,"method":"tools/list"}, or an array of 1 to ${BATCH_MAX} such messages.`,
    });
  }
  return parsed.map(({ data }) => data!);
}

/** The protocol engine words bad parameters as an internal error with its validator's notes; the fault is the caller's. */
function refusalOf(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!('method' in message && 'id' in message)) return undefined;
  const parsed = PARAMETERS[message.method]?.safeParse(message);
  if (!parsed || parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  const fault = `Invalid params: ${issue?.path.join('.') ?? 'params'}: ${issue?.message ?? 'not understood'}`;
  return { jsonrpc: '2.0', id: message.id, error: { code: ErrorCode.InvalidParams, message: fault } };
}

const PARAMETERS: Record<
  string,
  typeof InitializeRequestSchema | typeof ListToolsRequestSchema | typeof CallToolRequestSchema
> = {
  initialize: InitializeRequestSchema,
  'tools/list': ListToolsRequestSchema,
  'tools/call': CallToolRequestSchema,
};

/** 128 random bits. */
function newSessionId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
}
