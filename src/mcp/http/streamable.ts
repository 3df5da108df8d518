import type { McpHttpHandler, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { cleaned } from '../../core/clean-text.ts';
import { ClientError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-shape.ts';
import { SUBSCRIPTIONS_MAX } from '../mcp-deps.ts';
import { UnknownResource } from '../protocol-errors.ts';
import { batchOf } from './batch.ts';
import { guardResponse, isEventStream } from './guarded-stream.ts';
import { createStreamableSessions } from './streamable-sessions.ts';
import type { TransportDeps } from './transport-deps.ts';

/** Creates the endpoint `/mcp`. The endpoint has sessions for revisions up to 2025-11-25, and no sessions for later revisions. */
export function createStreamable(deps: TransportDeps) {
  const { streams, quota, bus } = deps;
  const sessions = createStreamableSessions(deps);
  let modern: McpHttpHandler | undefined;
  const answerModern: McpHttpHandler['fetch'] = async (...given) => {
    const { createMcpHandler, createMcpServer } = await import('./sdk.ts');
    modern ??= createMcpHandler(({ authInfo }) => createMcpServer(deps, { account: accountOf(authInfo) }), {
      legacy: 'reject',
      bus,
      // The stream registry limits the number of streams, in total and by account, and sends pings on the streams.
      maxSubscriptions: Number.MAX_SAFE_INTEGER,
      keepAliveMs: 0,
    });
    return modern.fetch(...given);
  };
  const answer = async (account: Account, request: Request, body: unknown): Promise<Response> => {
    const messages = body === undefined ? 1 : batchOf(body).length;
    // The rate limit has already counted the HTTP request, which includes the first message.
    if (messages > 1) deps.charge?.(account, messages - 1);
    if (!isModernMessage(body) && (await (await import('./sdk.ts')).isLegacyRequest(request, body)))
      return sessions.handle(account, request, body);
    if (isRecord(body) && body.method === 'subscriptions/listen') return listen(account, request, body);
    return answerModern(request, { parsedBody: body, authInfo: authInfoOf(account) });
  };
  /** Opens the stream of a `subscriptions/listen` request. While the stream is open, the quota counts its subscriptions. */
  const listen = async (account: Account, request: Request, body: Record<string, unknown>): Promise<Response> => {
    streams.assertCapacity(account);
    const { parsedBody, subscriptionCount } = withCanonicalUris(body, deps);
    quota.subscriptions.acquire(account.id, subscriptionCount);
    const releaseSubscriptions = () => quota.subscriptions.release(account.id, subscriptionCount);
    try {
      const response = await answerModern(request, { parsedBody, authInfo: authInfoOf(account) });
      if (isEventStream(response))
        return guardResponse(response, account, deps, { peer: deps.peerOf?.(request), onEnd: releaseSubscriptions });
      releaseSubscriptions();
      return response;
    } catch (error) {
      releaseSubscriptions();
      throw error;
    }
  };

  return {
    /** Answers a request. Throws `ClientError`: 400, 403 or 404 for the session id, 422 for the body, 429 or 503 for a limit. */
    async handle(account: Account, request: Request, body?: unknown) {
      const plain = sessions.plain(account, request, body);
      if (plain) return plain;
      const response = await answer(account, request, body);
      return response.status < 400 ? response : cleanErrorResponse(response);
    },
    async close() {
      sessions.close();
      await modern?.close();
    },
    get sessions() {
      return sessions.size;
    },
  };
}

/** Maximum length of a text in an error response, in characters. */
const ERROR_TEXT_MAX = 500;

/** Cleans the SDK's error responses, which contain names from the client. The request id stays, because the client needs it. */
async function cleanErrorResponse(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  if (!isJson(headers)) return new Response(cleaned(text, ERROR_TEXT_MAX), { status, headers });
  const body = JSON.parse(text) as { id?: unknown };
  return Response.json({ ...cleaned(body, ERROR_TEXT_MAX), ...('id' in body && { id: body.id }) }, { status, headers });
}

function isJson(headers: Headers): boolean {
  return headers.get('content-type')?.includes('json') ?? false;
}

/** Returns whether a message's `_meta` contains a protocol version, as in revisions from 2026-07-28 on. The SDK's check takes longer. */
function isModernMessage(body: unknown): boolean {
  const key: typeof PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
  if (!isRecord(body) || !isRecord(body.params) || !isRecord(body.params._meta)) return false;
  return key in body.params._meta;
}

/**
 * Gives the URIs of a `subscriptions/listen` request their canonical form, because the SDK compares URIs by character. Leaves out unknown
 * resources, and counts the others. Throws `ClientError` (422) for too many URIs.
 */
function withCanonicalUris(
  body: Record<string, unknown>,
  { resources, context }: TransportDeps,
): { parsedBody: unknown; subscriptionCount: number } {
  const params = body.params as { notifications?: { resourceSubscriptions?: unknown } } | undefined;
  const given = params?.notifications?.resourceSubscriptions;
  if (!Array.isArray(given)) return { parsedBody: body, subscriptionCount: 0 };
  if (given.length > SUBSCRIPTIONS_MAX) {
    throw new ClientError('invalid_body', `A stream can subscribe to at most ${SUBSCRIPTIONS_MAX} resources`, {
      hint: 'Subscribe to the other resources on another stream.',
    });
  }
  const uris = new Set(given.flatMap((uri) => canonicalOf(uri, resources, context)));
  const notifications = { ...params?.notifications, resourceSubscriptions: [...uris] };
  return { parsedBody: { ...body, params: { ...params, notifications } }, subscriptionCount: uris.size };
}

function canonicalOf(
  uri: unknown,
  resources: TransportDeps['resources'],
  context: TransportDeps['context'],
): unknown[] {
  if (typeof uri !== 'string') return [uri];
  try {
    return [resources.canonical(uri, context)];
  } catch (error) {
    if (error instanceof UnknownResource) return [];
    throw error;
  }
}

/** The SDK passes `authInfo` from the request to the handlers. In this service, `authInfo` contains only the account of the request. */
function authInfoOf(account: Account) {
  return { token: '', clientId: account.id, scopes: [], extra: { account } };
}

function accountOf(authInfo: { extra?: Record<string, unknown> } | undefined): Account {
  return authInfo!.extra!.account as Account;
}
