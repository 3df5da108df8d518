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

/** What does not say how long it may be cached is not cached: answers hold keys, and refusals pass. */
export const DEFAULT_FIELDS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };

/** Fields of a response with the defaults, made once: the runtime copies them in a third of the time that an object takes. */
export function fieldsOf(fields: Readonly<Record<string, string>>): Headers {
  return new Headers({ ...DEFAULT_FIELDS, ...fields });
}

export const JSON_TYPE = 'application/json;charset=utf-8';
export const JSON_FIELDS = fieldsOf({ 'Content-Type': JSON_TYPE });

/** A response with these fields and, after them, the head's. */
export function respond(
  set: ResponseHead,
  body: string | Blob | Uint8Array | null,
  fields: Headers,
  status = 200,
): Response {
  return withHead(new Response(body, { status, headers: fields }), set);
}

export function respondJson(set: ResponseHead, body: unknown): Response {
  return respond(set, JSON.stringify(body), JSON_FIELDS);
}

/** A response made elsewhere (an MCP transport's, a stream) with the defaults where it says nothing, and the head's fields. */
export function withDefaults(response: Response, set: ResponseHead): Response {
  for (const [name, value] of Object.entries(DEFAULT_FIELDS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return withHead(response, set);
}

/** Elysia sends a response as it is once no field is left in the head; with any it would wrap it, and its stream, into another. */
function withHead(response: Response, set: ResponseHead): Response {
  for (const name in set.headers) response.headers.set(name, String(set.headers[name]));
  set.headers = {};
  return response;
}

/** The path that the router matches: a context has it before routing too, which Elysia's types do not say. */
export interface BeforeRouting {
  readonly path: string;
}

/** Methods that a path answers, by Elysia's own router. */
export function methodsOf(app: AnyElysia, path: string): readonly string[] {
  return METHODS.filter((method) => routeOf(app, method, path) !== undefined);
}

/**
 * The route of a path as observations name it, `/api/v1/nodes/gex/{ticker}`: never a raw path, which may hold what a caller wrote. Elysia
 * tells it of requests that it has routed; of one that was refused before, it is looked up.
 */
export function patternOf(app: AnyElysia, path: string, routed: string | undefined): string {
  const meets = ({ method, path: own }: { method: string; path: string }) =>
    routeOf(app, method, own) === routeOf(app, method, path);
  return (routed || app.routes.find(meets)?.path)?.replaceAll(/:(\w+)/g, '{$1}') ?? '(none)';
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** What the router has for a request: a number where the path has no parameters. */
function routeOf({ router }: AnyElysia, method: string, path: string): unknown {
  const known: Readonly<Record<string, number>> | undefined = router.static[path];
  return known?.[method] ?? router.http.find(method, path)?.store;
}

/** The query of an address: Elysia's own reader keeps the last of a parameter that is given twice, which is to be refused. */
export function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}
