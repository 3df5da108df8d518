import { Elysia } from 'elysia';
import type { Account } from '../access/access.ts';

/**
 * The Elysia application that every plugin and route of this folder extends. Two values travel with a request: `requestId`, and
 * `account`, which the guard sets (undefined on public paths). What does not say how long it may be cached is not cached: answers hold
 * keys, and refusals pass.
 */
export function createHttpApp() {
  return new Elysia({ normalize: false, strictPath: true })
    .headers({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' })
    .decorate({ requestId: '', account: undefined as Account | undefined });
}

export type HttpApp = ReturnType<typeof createHttpApp>;

/** Status and header fields of the response to be sent. */
export interface ResponseHead {
  headers: Record<string, string | number>;
  status?: number | string;
}

/** What route handlers read of a request, and the head of its response, which they may add to. */
export interface RequestContext {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly account: Account | undefined;
  readonly set: ResponseHead;
}

export const JSON_TYPE = 'application/json;charset=utf-8';

/** The path that the router matches. It is there before routing too, which Elysia's types do not say. */
export function pathOf(context: { readonly request: Request }): string {
  return (context as typeof context & { path: string }).path;
}

/** The query of an address: Elysia's own reader keeps the last of a parameter that is given twice, which is to be refused. */
export function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

/**
 * A response made elsewhere (a stream, an MCP transport's) with the head's fields added to its own. Elysia then sends it as it is;
 * with fields left in the head it would wrap it and its stream into another.
 */
export function withHead(response: Response, { set }: RequestContext): Response {
  for (const [name, value] of Object.entries(set.headers)) {
    if (!response.headers.has(name)) response.headers.set(name, String(value));
  }
  set.headers = {};
  return response;
}
