import { type AnyElysia, Elysia } from 'elysia';
import type { Account } from '../access/access.ts';

/**
 * The Elysia application that every plugin and route of this folder extends. What travels with a request: its id, its account, which the
 * guard sets (undefined on public paths), and its arrival time, for the access log. Elysia reads from a handler's source text what of a request
 * it needs: handlers name each part in their parameter, since for one that takes the whole context Elysia reads headers, cookies and query
 * of every request. None names the body: Elysia would parse it, without a bound.
 */
export function createHttpApp() {
  return new Elysia({ normalize: false, strictPath: true }).decorate({
    requestId: '',
    account: undefined as Account | undefined,
    startedAt: 0,
  });
}

export type HttpApp = ReturnType<typeof createHttpApp>;

/** Status of a response to be sent, and the fields that hooks give it whatever its route answers. */
export interface ResponseHead {
  headers: Record<string, string | number>;
  status?: number | string;
}

/** Responses are not cached unless their route says otherwise: some hold keys, and refusals do not last. */
export const DEFAULT_FIELDS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  // Of an answer that a browser shows as a page, nothing runs and nothing is framed; the address, which may hold a UUID, is told nobody.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** Header fields with the defaults. Make them once: the runtime copies `Headers` in a third of the time that an object takes. */
export function fieldsOf(fields: Readonly<Record<string, string>>): Headers {
  return new Headers({ ...DEFAULT_FIELDS, ...fields });
}

export const JSON_TYPE = 'application/json;charset=utf-8';
export const JSON_FIELDS = fieldsOf({ 'Content-Type': JSON_TYPE });

/** A response with these fields and, after them, the head's. */
export function respond(
  set: ResponseHead,
  body: string | Blob | Uint8Array | ReadableStream<Uint8Array> | null,
  fields: Headers,
  status = 200,
): Response {
  return withHead(new Response(body, { status, headers: fields }), set);
}

export function respondJson(set: ResponseHead, body: unknown): Response {
  return respond(set, JSON.stringify(body), JSON_FIELDS);
}

/** Adds the default fields that a response lacks, and the head's, to a response made elsewhere (an MCP transport, a stream). */
export function withDefaults(response: Response, set: ResponseHead): Response {
  for (const [name, value] of Object.entries(DEFAULT_FIELDS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return withHead(response, set);
}

/** Empties the head: Elysia then sends the response as it is. If fields were left, it would wrap the response and its stream. */
function withHead(response: Response, set: ResponseHead): Response {
  for (const name in set.headers) response.headers.set(name, String(set.headers[name]));
  set.headers = {};
  return response;
}

/** The path that the router matches. A context has it before routing too, but Elysia's types omit it. */
export interface BeforeRouting {
  readonly path: string;
}

/** Methods that a path answers, by Elysia's own router. */
export function methodsOf(app: AnyElysia, path: string): readonly string[] {
  return METHODS.filter((method) => routeOf(app, method, path) !== undefined);
}

/**
 * The route pattern of a path for observations, e.g. `/api/v1/nodes/gex/{ticker}`. Observations never name the raw path, because a
 * caller chooses it. Elysia gives the pattern of a routed request; for a request refused before routing, the router is asked.
 */
export function patternOf(app: AnyElysia, path: string, routed: string | undefined): string {
  const meets = ({ method, path: own }: { method: string; path: string }) =>
    routeOf(app, method, own) === routeOf(app, method, path);
  return (routed || app.routes.find(meets)?.path)?.replaceAll(/:(\w+)/g, '{$1}') ?? '(none)';
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** The router's entry for a request: a number if the path has no parameters. */
function routeOf({ router }: AnyElysia, method: string, path: string): unknown {
  const known: Readonly<Record<string, number>> | undefined = router.static[path];
  return known?.[method] ?? router.http.find(method, path)?.store;
}

/** The query of a URL. Elysia's parser keeps only the last of a repeated parameter; ours keeps all, so that repeats can be refused. */
export function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}
