import { type AnyElysia, Elysia } from 'elysia';
import type { Account } from '../access/access.ts';
import { invalidArgument } from '../core/errors.ts';
import type { RequestSpan } from '../core/trace-context.ts';
import { unknownFields } from '../operations/engine/validate.ts';

/**
 * Creates the Elysia application that every plugin and route of this folder extends. Its context has the request's id, account (undefined
 * on public paths), arrival time and trace. Elysia reads the source text of a handler to find which parts of a request it uses, so the
 * parameter of each handler names these parts. With the whole context, Elysia would parse headers, cookies and query, and with the body, a
 * body of any size.
 */
export function createHttpApp() {
  return new Elysia({ normalize: false, strictPath: true }).decorate({
    requestId: '',
    account: undefined as Account | undefined,
    startedAt: 0,
    client: '',
    traceId: undefined as string | undefined,
    span: undefined as RequestSpan | undefined,
  });
}

export type HttpApp = ReturnType<typeof createHttpApp>;

/** The status of a response, and the header fields that hooks add to a response. */
export interface ResponseHead {
  headers: Record<string, string | number>;
  status?: number | string;
  /** The length of the body for the access log, bytes. Undefined for a stream. */
  bytes?: number | undefined;
}

/** Header fields of every response. Only some routes allow caching, because responses may contain keys, and errors are temporary. */
export const DEFAULT_FIELDS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  // If a browser shows an answer as a page, this policy prevents scripts, and prevents other pages from showing the answer in a frame. The
  // browser sends no referrer, because the URL may contain a UUID.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** Returns header fields with the defaults. Create them once: the runtime copies `Headers` three times as fast as an object. */
export function fieldsOf(fields: Readonly<Record<string, string>>): Headers {
  return new Headers({ ...DEFAULT_FIELDS, ...fields });
}

export const JSON_TYPE = 'application/json;charset=utf-8';
export const JSON_FIELDS = fieldsOf({ 'Content-Type': JSON_TYPE });

/** Creates a response with the header fields of `fields` and `set`. The fields of `set` take precedence over `fields`. */
export function respond(
  set: ResponseHead,
  body: string | Blob | Uint8Array | ReadableStream<Uint8Array> | null,
  fields: Headers,
  status = 200,
): Response {
  set.bytes = lengthOf(body);
  return withHead(new Response(body, { status, headers: fields }), set);
}

function lengthOf(body: string | Blob | Uint8Array | ReadableStream<Uint8Array> | null): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  return body instanceof Blob ? body.size : undefined;
}

export function respondJson(set: ResponseHead, body: unknown): Response {
  return respond(set, JSON.stringify(body), JSON_FIELDS);
}

/** Adds missing default fields and the header fields of `set` to a response from other code, such as an MCP transport or a stream. */
export function withDefaults(response: Response, set: ResponseHead): Response {
  for (const [name, value] of Object.entries(DEFAULT_FIELDS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return withHead(response, set);
}

/** Moves the header fields of `set` to the response, because Elysia would wrap the response and its stream if `set` had any. */
function withHead(response: Response, set: ResponseHead): Response {
  for (const name in set.headers) response.headers.set(name, String(set.headers[name]));
  set.headers = {};
  return response;
}

/** The path that the router matches. The context has the path even before routing, but Elysia's types do not declare this field. */
export interface BeforeRouting {
  readonly path: string;
}

/** Returns the methods that a path supports, according to Elysia's router. */
export function methodsOf(app: AnyElysia, path: string): readonly string[] {
  return METHODS.filter((method) => routeOf(app, method, path) !== undefined);
}

/**
 * Returns the route pattern of a path for observations, such as `/api/v1/nodes/gex/{ticker}`, or `(none)`, and never the raw path, which a
 * caller can choose. `routed` is Elysia's pattern. If a request was rejected before routing, the router is asked.
 */
export function patternOf(app: AnyElysia, path: string, routed: string | undefined): string {
  const matches = ({ method, path: own }: { method: string; path: string }) =>
    routeOf(app, method, own) === routeOf(app, method, path);
  return (routed || app.routes.find(matches)?.path)?.replaceAll(/:(\w+)/g, '{$1}') ?? '(none)';
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** Returns the router's entry for a request. If the path has no parameters, the entry is a number. */
function routeOf({ router }: AnyElysia, method: string, path: string): unknown {
  const known: Readonly<Record<string, number>> | undefined = router.static[path];
  return known?.[method] ?? router.http.find(method, path)?.store;
}

/**
 * Returns the query of a URL. Throws `ClientError` (400) if the query has a parameter that is not in `known`, because a misspelt parameter
 * without effect would give an answer that looks right. `otherwise` is the hint of a route that takes no parameters.
 */
export function strictQuery(url: string, known: readonly string[] = [], otherwise?: string): URLSearchParams {
  const query = queryOf(url);
  const error = unknownFields('invalid_parameter', new Set(query.keys()), known, otherwise);
  if (error) throw error;
  return query;
}

/** Returns the value of a parameter, or null. Throws `ClientError` (400) if the parameter is repeated. */
export function onlyValue(query: URLSearchParams, name: string): string | null {
  if (query.getAll(name).length > 1) throw invalidArgument(`/${name}`, 'must be given once');
  return query.get(name);
}

/** Returns the query of a URL with all values of a repeated parameter, of which Elysia's parser returns only the last. */
export function queryOf(url: string): URLSearchParams {
  const question = url.indexOf('?');
  return new URLSearchParams(question < 0 ? '' : url.slice(question + 1));
}
