import { Elysia } from 'elysia';
import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import { readJson, refuseOtherThanJson } from './body.ts';
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

/** A route as it is found by its path. */
export interface FoundRoute extends Pick<Route, 'method' | 'path' | 'stream'> {
  /** One of MCP's: browsers' pages are looked at. */
  readonly mcp?: true;
}

export interface Router {
  /** The routes of a path, one for each method. */
  find(path: string): readonly FoundRoute[];
  /** Answers a request by the route that was found for it. */
  handle(request: Request, admission: Admitted): Promise<Response>;
}

/** What the guard found of a request: handlers answer for no other route, and for no other account. */
interface Admitted {
  readonly route: string;
  readonly account: Account | undefined;
}

/** Elysia routes; parsing, validation and errors are the registry's, the same on every face. */
export function createRouter(routes: readonly Route[], mcp: McpTransports): Router {
  const all: readonly (Route & FoundRoute)[] = [...routes, ...mcpRoutes(mcp)];
  const table = all.map((route) => ({ route, parts: route.path.split('/') }));
  const admitted = new WeakMap<Request, Admitted>();
  const app = new Elysia({ normalize: false }).onError(({ error, code }) => {
    throw code === 'NOT_FOUND' ? notFound() : error;
  });
  for (const { method, path, handle } of all) {
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
  return {
    find(path) {
      const parts = path.split('/');
      return table.filter((each) => matches(each.parts, parts)).map(({ route }) => route);
    },
    handle(request, admission) {
      admitted.set(request, admission);
      return app.handle(request);
    },
  };
}

function mcpRoutes({ sse, streamable }: McpTransports): (Route & FoundRoute)[] {
  const ofSession: Route['handle'] = ({ account, request }) => streamable.handle(account!, request);
  return [
    { method: 'GET', path: '/sse', stream: true, mcp: true, handle: ({ account }) => sse.open(account!) },
    {
      method: 'POST',
      path: '/messages',
      mcp: true,
      async handle({ account, query, request }) {
        const session = sse.session(account!, query.get('sessionId'));
        refuseOtherThanJson(request.headers);
        return session.receive(await readJson(request));
      },
    },
    { method: 'GET', path: '/mcp', stream: true, mcp: true, handle: ofSession },
    {
      method: 'POST',
      path: '/mcp',
      mcp: true,
      async handle({ account, request }) {
        const body = await readJson(request).catch(notJson);
        return body instanceof Response ? body : streamable.handle(account!, request, body);
      },
    },
    { method: 'DELETE', path: '/mcp', mcp: true, handle: ofSession },
  ];
}

/** On `/mcp` a body that cannot be read is JSON-RPC's own error. */
function notJson(error: unknown): Response {
  if (!(error instanceof Failure) || error.code !== 'invalid_body') throw error;
  const { message, hint } = error;
  return Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: `Parse error: ${message}`, data: { hint } } },
    { status: 400 },
  );
}

export function notFound(): Failure {
  return new Failure('not_found', 'There is nothing at this path', { hint: 'GET /openapi.json lists what there is.' });
}

/** Whether a path is a pattern's, both as their segments. */
function matches(expected: readonly string[], given: readonly string[]): boolean {
  return (
    expected.length === given.length &&
    expected.every((part, at) => part === given[at] || (part.startsWith('{') && given[at] !== ''))
  );
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}
