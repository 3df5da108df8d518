import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import type { Observe } from '../events.ts';
import { drain } from './body.ts';
import type { Guard } from './guard.ts';
import { crossOriginHeaders, type OriginPolicy, refuseForeign } from './origins.ts';
import { problemResponse } from './problem.ts';
import { createRouter, type McpTransports, notFound } from './router.ts';
import type { Route } from './routes.ts';

export interface HttpParts {
  readonly guard: Guard;
  readonly routes: readonly Route[];
  readonly mcp: McpTransports;
  /** Which pages of others' browsers, and under which names this server is asked, the MCP paths answer. */
  readonly origins: OriginPolicy;
  readonly observe: Observe;
}

export type Handler = (request: Request) => Promise<Response>;

/** What is known of a request by the time it is answered, or refused. */
interface Asking {
  readonly requestId: string;
  /** Fields of the answer, whatever it will be. */
  readonly headers: Record<string, string>;
  route: string;
  account: Account | undefined;
  /** As the router gets it. */
  request: Request;
}

/**
 * The whole HTTP surface as one function. Around Elysia's routing it puts what must hold for every request, found or not: an id,
 * the guard before anything is parsed, one error shape, and one observation.
 */
export function createHttp({ guard, routes, mcp, origins, observe }: HttpParts): Handler {
  const router = createRouter(routes, mcp);

  const answer = async (request: Request, asking: Asking): Promise<Response> => {
    const { headers } = asking;
    refuseStrangeHost(request.headers);
    const { path, query } = targetOf(request.url);
    const found = router.find(path);
    asking.route = found[0]?.path ?? '(none)';
    if (found[0]?.mcp) {
      refuseForeign(request.headers, origins);
      const shared = crossOriginHeaders(request.headers, origins);
      Object.assign(headers, shared);
      // A browser asks before its page does, and without the page's key.
      if (request.method === 'OPTIONS' && shared) return new Response(null, { status: 204 });
    }
    const admission = await guard(path, request.headers);
    asking.account = admission.account;
    Object.assign(headers, admission.headers);
    if (admission.refusal) throw admission.refusal;
    // HEAD is GET without the body, wherever the answer ends.
    const bodiless = request.method === 'HEAD' && !found[0]?.stream;
    refuseMethod(found, bodiless ? 'GET' : request.method, headers);
    // The router reads a path of its own out of the address: it gets one in which there is no other than the guard's.
    const init = bodiless ? { headers: request.headers } : request;
    asking.request = new Request(ORIGIN + path + query, init);
    const response = await router.handle(asking.request, { route: asking.route, account: asking.account });
    return bodiless ? new Response(null, response) : response;
  };

  const refuse = (error: unknown, request: Request, { route, requestId }: Asking): Response => {
    const failure = failureOf(error, request);
    if (failure.code === 'internal') observe({ kind: 'request_failed', route, request_id: requestId, error });
    return problemResponse(failure, requestId);
  };

  return async (request) => {
    const startedAt = performance.now();
    const requestId = newRequestId();
    const headers = { 'X-Request-Id': requestId };
    const asking: Asking = { requestId, headers, route: '(none)', account: undefined, request };
    const response = await answer(request, asking).catch((error) => refuse(error, request, asking));
    // Over HTTP/2 an answer ahead of the body resets the stream, and the client never sees it.
    await drain(asking.request);
    for (const [name, value] of Object.entries(asking.headers)) response.headers.set(name, value);
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // What does not say for how long it holds is kept nowhere: answers have keys in them, and refusals pass.
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-store');
    observe({
      kind: 'request_answered',
      method: request.method,
      route: asking.route,
      status: response.status,
      duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
      request_id: requestId,
      account: asking.account?.id,
    });
    return response;
  };
}

const ORIGIN = 'http://localhost';

function failureOf(error: unknown, request: Request): Failure {
  if (error instanceof Failure) return error;
  // Nobody reads this answer: the client hung up while it was sending.
  if (request.signal.aborted) return new Failure('invalid_body', 'The body ended early');
  return new Failure('internal', 'The request could not be answered', {
    hint: 'Retry shortly; if it stays, report the request_id.',
  });
}

function refuseMethod(found: readonly { method: string }[], method: string, headers: Record<string, string>): void {
  if (found.length === 0) throw notFound();
  const allowed = found.map((route) => route.method);
  if (allowed.some((each) => each === method)) return;
  headers.Allow = allowed.join(', ');
  throw new Failure('method_not_allowed', 'This path does not answer that method', { hint: `Use ${headers.Allow}.` });
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

/** 64 random bits in hex: enough to find a request by, and no UUID. */
function newRequestId(): string {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16).padStart(16, '0');
}
