import { Elysia } from 'elysia';
import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import type { Observe } from '../events.ts';
import { drain, readJson, refuseOtherThanJson } from './body.ts';
import type { Guard } from './guard.ts';
import { type OriginPolicy, refuseForeign } from './origins.ts';
import { problemResponse } from './problem.ts';
import type { Route } from './routes.ts';

/** The transports of MCP, which need to know who is asking. */
export interface McpTransports {
  /** The contract's pair. */
  readonly sse: {
    open(account: Account): Response;
    session(account: Account, sessionId: string | null): { receive(body: unknown): Response };
  };
  readonly streamable: { handle(account: Account, request: Request, body?: unknown): Promise<Response> };
}

export interface HttpParts {
  readonly guard: Guard;
  readonly routes: readonly Route[];
  readonly mcp: McpTransports;
  /** Which pages of others' browsers, and under which names this server is asked, the MCP paths answer. */
  readonly origins: OriginPolicy;
  readonly observe: Observe;
}

export type Handler = (request: Request) => Promise<Response>;

/**
 * The whole HTTP surface as one function. Around Elysia's routing it puts what must hold for every request, found or not: an id,
 * the guard before anything is parsed, one error shape, and one observation.
 */
export function createHttp({ guard, routes, mcp, origins, observe }: HttpParts): Handler {
  const table = [...routes, ...MCP_ROUTES].map((each) => ({ ...each, parts: each.path.split('/') }));
  const router = createRouter(routes, mcp);
  return async (request) => {
    const startedAt = performance.now();
    const requestId = newRequestId();
    const extra: Record<string, string> = { 'X-Request-Id': requestId };
    let route = '(none)';
    let account: Account | undefined;
    let asked = request;
    let response: Response;
    try {
      refuseStrangeHost(request.headers);
      const { path, query } = targetOf(request.url);
      const parts = path.split('/');
      const found = table.filter((each) => matches(each.parts, parts));
      route = found[0]?.path ?? '(none)';
      if (MCP_PATHS.has(path)) refuseForeign(request.headers, origins);
      const admission = await guard(path, request.headers);
      account = admission.account;
      Object.assign(extra, admission.headers);
      if (admission.refusal) throw admission.refusal;
      // HEAD is GET without the body, wherever the answer ends.
      const bodiless = request.method === 'HEAD' && !found[0]?.stream;
      const method = bodiless ? 'GET' : request.method;
      refuseMethod(found, method);
      // The router reads a path of its own out of the address: it gets one in which there is no other than the guard's.
      asked = bodiless
        ? new Request(ORIGIN + path + query, { headers: request.headers })
        : new Request(ORIGIN + path + query, request);
      admitted.set(asked, { route, account });
      response = await router.handle(asked);
      if (bodiless) response = new Response(null, response);
    } catch (error) {
      const failure = failureOf(error, request);
      if (failure.code === 'internal') observe({ kind: 'request_failed', route, request_id: requestId, error });
      if (error instanceof MethodRefusal) extra.Allow = error.allow;
      response = problemResponse(failure, requestId);
    }
    // Over HTTP/2 an answer ahead of the body resets the stream, and the client never sees it.
    await drain(asked);
    for (const name in extra) response.headers.set(name, extra[name]!);
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // What does not say for how long it holds is kept nowhere: answers have keys in them, and refusals pass.
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-store');
    const duration = performance.now() - startedAt;
    observe({
      kind: 'request_answered',
      method: request.method,
      route,
      status: response.status,
      duration_ms: Math.round(duration * 1000) / 1000,
      request_id: requestId,
      account: account?.id,
    });
    return response;
  };
}

const ORIGIN = 'http://localhost';

const MCP_ROUTES: readonly Omit<Route, 'handle'>[] = [
  { method: 'GET', path: '/sse', stream: true },
  { method: 'POST', path: '/messages' },
  { method: 'GET', path: '/mcp', stream: true },
  { method: 'POST', path: '/mcp' },
  { method: 'DELETE', path: '/mcp' },
];
const MCP_PATHS = new Set(MCP_ROUTES.map(({ path }) => path));

/** What the guard found of a request: handlers answer for no other route, and for no other account. */
const admitted = new WeakMap<Request, { readonly route: string; readonly account: Account | undefined }>();

function createRouter(routes: readonly Route[], { sse, streamable }: McpTransports) {
  // Elysia routes; parsing, validation and errors are the registry's, the same on every face.
  const app = new Elysia({ normalize: false }).onError(({ error, code }) => {
    throw code === 'NOT_FOUND' ? notFound() : error;
  });
  for (const { method, path, handle } of routes) {
    app.route(
      method,
      path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ({ request, params }) => {
        const admission = admitted.get(request);
        if (admission?.route !== path) throw notFound();
        return handle({ request, params: params ?? {}, query: queryOf(request.url), account: admission.account });
      },
      { parse: 'none' },
    );
  }
  const asIs = { parse: 'none' } as const;
  const streamed = ({ request }: { request: Request }) => streamable.handle(accountOf(request, '/mcp'), request);
  return app
    .get('/sse', ({ request }) => sse.open(accountOf(request, '/sse')))
    .post(
      '/messages',
      async ({ request }) => {
        const session = sse.session(accountOf(request, '/messages'), queryOf(request.url).get('sessionId'));
        refuseOtherThanJson(request.headers);
        return session.receive(await readJson(request));
      },
      asIs,
    )
    .get('/mcp', streamed)
    .delete('/mcp', streamed, asIs)
    .post(
      '/mcp',
      async ({ request }) => {
        const account = accountOf(request, '/mcp');
        const body = await readJson(request).catch(notJson);
        return body instanceof Response ? body : streamable.handle(account, request, body);
      },
      asIs,
    );
}

/** On this endpoint a body that cannot be read is JSON-RPC's own error. */
function notJson(error: unknown): Response {
  if (!(error instanceof Failure) || error.code !== 'invalid_body') throw error;
  const { message, hint } = error;
  return Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: `Parse error: ${message}`, data: { hint } } },
    { status: 400 },
  );
}

function accountOf(request: Request, path: string): Account {
  const { route, account } = admitted.get(request) ?? {};
  if (route !== path || !account) throw notFound();
  return account;
}

function failureOf(error: unknown, request: Request): Failure {
  if (error instanceof Failure) return error;
  // Nobody reads this answer: the client hung up while it was sending.
  if (request.signal.aborted) return new Failure('invalid_body', 'The body ended early');
  return new Failure('internal', 'The request could not be answered', {
    hint: 'Retry shortly; if it stays, report the request_id.',
  });
}

class MethodRefusal extends Failure {
  constructor(readonly allow: string) {
    super('method_not_allowed', 'This path does not answer that method', { hint: `Use ${allow}.` });
  }
}

function refuseMethod(found: readonly { method: string }[], method: string): void {
  if (found.length === 0) throw notFound();
  const allowed = found.map((route) => route.method);
  if (!allowed.includes(method)) throw new MethodRefusal(allowed.join(', '));
}

/** Whether a path is a pattern's, both as their segments. */
function matches(expected: readonly string[], given: readonly string[]): boolean {
  return (
    expected.length === given.length &&
    expected.every((part, at) => part === given[at] || (part.startsWith('{') && given[at] !== ''))
  );
}

function notFound(): Failure {
  return new Failure('not_found', 'There is nothing at this path', { hint: 'GET /openapi.json lists what there is.' });
}

/** Two Host headers arrive joined by a comma, and other marks would move where the address's path begins. */
function refuseStrangeHost(headers: Headers): void {
  if (/^[A-Za-z0-9._:[\]-]*$/.test(headers.get('host') ?? '')) return;
  throw new Failure('invalid_parameter', 'The Host header is not one host', { hint: 'Send one Host header.' });
}

/** Path and query (with its question mark) as sent: nothing decoded, nothing normalised. */
function targetOf(url: string): { path: string; query: string } {
  const [address] = url.split('#', 1) as [string];
  // Without a Host the address is the path alone.
  const start = address.startsWith('/') ? 0 : address.indexOf('/', address.indexOf('//') + 2);
  const target = start < 0 ? '/' : address.slice(start);
  const mark = target.indexOf('?');
  return mark < 0 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) };
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

/** 64 random bits in hex: enough to find a request by, and no UUID. */
function newRequestId(): string {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16).padStart(16, '0');
}
