import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  PROTOCOL_VERSION_META_KEY,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { cleaned } from '../../clean-text.ts';
import { Failure } from '../../errors.ts';
import { isRecord } from '../../operations/validate.ts';
import { createMcpServer, FOLLOWED_MAX } from '../server.ts';
import { batchOf } from './batch.ts';
import { held, isEventStream } from './held-stream.ts';
import { createStreamableSessions, type StreamableSessions } from './streamable-sessions.ts';
import type { TransportParts } from './transport-parts.ts';

/** One endpoint for both eras: sessions for clients up to 2025-11-25, none for those from 2026-07-28 on. */
export interface Streamable {
  /** Answers a request of an account; `body` is what it posted, parsed. Throws `Failure`: 403, 429, 503. */
  handle(account: Account, request: Request, body?: unknown): Promise<Response>;
  close(): Promise<void>;
  readonly sessions: number;
}

export function createStreamable(parts: TransportParts): Streamable {
  const { watch, quota, bus } = parts;
  const sessions: StreamableSessions = createStreamableSessions(parts);
  const modern: McpHttpHandler = createMcpHandler(
    ({ authInfo }) => createMcpServer(parts, { account: accountOf(authInfo) }),
    {
      legacy: 'reject',
      bus,
      // The watch bounds them, for each account too, and pings them.
      maxSubscriptions: Number.MAX_SAFE_INTEGER,
      keepAliveMs: 0,
    },
  );
  const answer = async (account: Account, request: Request, body: unknown): Promise<Response> => {
    const messages = body === undefined ? 1 : batchOf(body).length;
    // The request has paid for one.
    if (messages > 1) parts.charge?.(account, messages - 1);
    if (!claimsNewEra(body) && (await isLegacyRequest(request, body))) return sessions.handle(account, request, body);
    if (isRecord(body) && body.method === 'subscriptions/listen') return listen(account, request, body);
    return modern.fetch(request, { parsedBody: body, authInfo: authInfoOf(account) });
  };
  /** Opens the stream of what a client listens for, and counts the addresses as long as it is there. */
  const listen = async (account: Account, request: Request, body: Record<string, unknown>): Promise<Response> => {
    watch.refuseTooMany(account);
    const { parsedBody, followed } = withCanonicalUris(body, parts);
    quota.followed.take(account.id, followed);
    const ended = () => quota.followed.give(account.id, followed);
    try {
      const response = await modern.fetch(request, { parsedBody, authInfo: authInfoOf(account) });
      if (isEventStream(response)) return held(response, account, parts, { peer: parts.peerOf?.(request), ended });
      ended();
      return response;
    } catch (error) {
      ended();
      throw error;
    }
  };

  return {
    async handle(account, request, body) {
      const called = sessions.call(account, request, body);
      if (called) return called;
      const response = await answer(account, request, body);
      return response.status < 400 ? response : cleanRefusal(response);
    },
    async close() {
      sessions.close();
      await modern.close();
    },
    get sessions() {
      return sessions.size;
    },
  };
}

/** The longest text of a refusal, in characters. */
const REFUSAL_MAX = 500;

/** The engine's refusals repeat names that the caller chose. Its id is the caller's own, by which it knows the answer. */
async function cleanRefusal(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  if (!isJson(headers)) return new Response(cleaned(text, REFUSAL_MAX), { status, headers });
  const refusal = JSON.parse(text) as { id?: unknown };
  return Response.json(
    { ...cleaned(refusal, REFUSAL_MAX), ...('id' in refusal && { id: refusal.id }) },
    { status, headers },
  );
}

function isJson(headers: Headers): boolean {
  return headers.get('content-type')?.includes('json') ?? false;
}

/** What says of itself which revision it is of is never of the era before: that spares the engine's looking at it twice. */
function claimsNewEra(body: unknown): boolean {
  if (!isRecord(body) || !isRecord(body.params) || !isRecord(body.params._meta)) return false;
  return PROTOCOL_VERSION_META_KEY in body.params._meta;
}

/**
 * A request to listen, with each address in the spelling by which its changes are told: the engine compares them letter by letter. Those
 * that are none are left out; the answer says which are heard. With how many they are. Throws `Failure`, 422, for more than may be followed.
 */
function withCanonicalUris(
  body: Record<string, unknown>,
  { resources, context }: TransportParts,
): { parsedBody: unknown; followed: number } {
  const params = body.params as { notifications?: { resourceSubscriptions?: unknown } } | undefined;
  const given = params?.notifications?.resourceSubscriptions;
  if (!Array.isArray(given)) return { parsedBody: body, followed: 0 };
  if (given.length > FOLLOWED_MAX) {
    throw new Failure('invalid_body', `At most ${FOLLOWED_MAX} resources can be followed on a stream`, {
      hint: 'Listen for the rest on another.',
    });
  }
  const uris = new Set(given.flatMap((uri) => canonicalOf(uri, resources, context)));
  const notifications = { ...params?.notifications, resourceSubscriptions: [...uris] };
  return { parsedBody: { ...body, params: { ...params, notifications } }, followed: uris.size };
}

function canonicalOf(
  uri: unknown,
  resources: TransportParts['resources'],
  context: TransportParts['context'],
): unknown[] {
  if (typeof uri !== 'string') return [uri];
  try {
    return [resources.canonical(uri, context)];
  } catch (error) {
    if (error instanceof ResourceNotFoundError) return [];
    throw error;
  }
}

/** The engine carries what it calls authentication from the request to the handlers: to us it is who asks. */
function authInfoOf(account: Account) {
  return { token: '', clientId: account.id, scopes: [], extra: { account } };
}

function accountOf(authInfo: { extra?: Record<string, unknown> } | undefined): Account {
  return authInfo!.extra!.account as Account;
}
