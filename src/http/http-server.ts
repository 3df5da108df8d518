import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import { parseTraceparent } from '../core/trace-context.ts';
import { accountRoutes } from './account.ts';
import { withoutBasePath } from './base-path.ts';
import type { AddressOf } from './client-address.ts';
import { docsRoutes } from './docs-page.ts';
import { guard } from './guard.ts';
import { createHttpApp, type HttpApp, patternOf, type ResponseHead } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { operationRoutes } from './operation-routes.ts';
import { checkHost, checkOrigin } from './origins.ts';
import { problemDetails } from './problem-details.ts';
import { streamRoutes } from './stream-routes.ts';
import { webRoutes } from './web-page.ts';

/** Browsers and scanners expect a duration of one year. Only the domain's owner may decide to add `preload` or `includeSubDomains`. */
const TRANSPORT_SECURITY = 'max-age=31536000';
/** Matches the name `localhost`. With HSTS on `localhost`, a browser would demand HTTPS from all servers and ports of this machine. */
const LOCAL_NAME = /^(?:.+\.)?localhost(?::\d*)?$/i;

export type Handler = (request: Request) => Response | Promise<Response>;

/**
 * Creates the HTTP adapter, an Elysia application. Before routing, these hooks run in this order, even for unknown paths: request id, Host,
 * Origin, key and rate limit. The hooks see the same path as the router, so no path bypasses the hooks.
 */
export function createServerApp(deps: HttpDeps): HttpApp {
  const { origins, drain, addressOf, isFromProxy, isHttps, tracing, basePath, observe } = deps;
  const app = createHttpApp()
    .onRequest((context) => {
      announceStep('request');
      context.requestId = requestIdOf(context.request, isFromProxy);
      context.set.headers['X-Request-Id'] = context.requestId;
      if (isHttps && !LOCAL_NAME.test(context.request.headers.get('host') ?? '')) {
        context.set.headers['Strict-Transport-Security'] = TRANSPORT_SECURITY;
      }
      context.span = tracing?.current();
      context.traceId = context.span?.traceId ?? traceIdOf(context.request.headers);
      drain.onRequest(context.set);
    })
    .use(accessLog(observe, addressOf, tracing !== undefined))
    .use(problemDetails(observe, basePath))
    .use(checkHost(origins))
    .use(checkOrigin(origins))
    .use(guard(deps));
  // Elysia reads the source text of a hook to decide whether to await the hook. Elysia's decision can be wrong for minified code. The hooks
  // of this server are not asynchronous, so each hook is marked as synchronous.
  for (const hook of app.event.request ?? []) hook.isAsync = false;
  return app
    .use(accountRoutes(deps))
    .use(webRoutes(basePath))
    .use(docsRoutes(deps.openapi, basePath))
    .use(operationRoutes(deps))
    .use(streamRoutes(deps)) as unknown as HttpApp;
}

/** Reports each answered request to `observe` and its span. Adds no hook if `observe` ignores answered requests and there are no spans. */
const accessLog = (observe: Observe, addressOf: AddressOf, hasSpans: boolean) => (app: HttpApp) => {
  if (observe.ignores?.has('request_answered') && !hasSpans) return app;
  return app
    .onRequest((context) => {
      context.startedAt = performance.now();
      context.client = addressOf(context.request);
    })
    .onAfterResponse(
      ({
        request: { method },
        path,
        route,
        set,
        responseValue,
        requestId,
        account,
        startedAt,
        client,
        traceId,
        span,
      }) => {
        const answer = {
          client,
          bytes: typeof responseValue === 'string' ? Buffer.byteLength(responseValue) : (set as ResponseHead).bytes,
          method,
          route: patternOf(app, path, route),
          status: responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200),
          duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
          request_id: requestId,
          account: account?.id,
          trace_id: traceId,
        };
        observe({ kind: 'request_answered', ...answer });
        span?.end(answer);
      },
    );
};

/** Returns a handler that answers requests with the application. If there is tracing, each request is answered within a span. */
export function handlerOf(app: HttpApp, { tracing, basePath }: Pick<HttpDeps, 'tracing' | 'basePath'>): Handler {
  const answer: Handler =
    basePath === ''
      ? (request) => app.fetch(withRoutableUrl(request))
      : (request) => app.fetch(withRoutableUrl(withoutBasePath(request, basePath)));
  return tracing ? (request) => tracing.inRequest(request.headers, () => answer(request)) : answer;
}

function traceIdOf(headers: Headers): string | undefined {
  const field = headers.get('traceparent');
  return field === null ? undefined : parseTraceparent(field)?.traceId;
}

/**
 * Returns the id that a trusted proxy has given to a request. If there is no such id, or if it looks like a UUID or a key, returns a new id.
 * The log must not contain UUIDs or keys, and a client must not choose which id the log has.
 */
function requestIdOf(request: Request, isFromProxy: (request: Request) => boolean): string {
  const given = request.headers.get('x-request-id');
  const isUsable = given !== null && WELL_FORMED_ID.test(given) && !SECRET_FORM.test(given) && isFromProxy(request);
  return isUsable ? given : newRequestId();
}

const WELL_FORMED_ID = /^[\w.:-]{4,64}$/;
const SECRET_FORM = /ZOMMA_|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;

/** Returns 64 random bits in hex. The id is long enough to find a request in the log, and so short that nobody mistakes it for a UUID. */
function newRequestId(): string {
  return crypto.getRandomValues(randomBits)[0]!.toString(16).padStart(16, '0');
}

const randomBits = new BigUint64Array(1);

/** The index in a URL from which Elysia searches for the start of the path. */
const PATH_SEARCHED_FROM = 11;

/** Adds a missing host to a URL. Replaces a very short host, because Elysia would miss the start of the path. Keeps path and query. */
function withRoutableUrl(request: Request): Request {
  const { url } = request;
  const isAbsolute = !url.startsWith('/');
  const pathStart = isAbsolute ? url.indexOf('/', url.indexOf('://') + 3) : 0;
  if (isAbsolute && pathStart >= PATH_SEARCHED_FROM) return request;
  return new Request(`http://localhost${pathStart < 0 ? '/' : url.slice(pathStart)}`, request);
}
