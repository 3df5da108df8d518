import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import { readJson, refuseOtherThanJson } from './body.ts';
import { type HttpApp, queryOf, withDefaults } from './http-app.ts';
import type { GexStreams } from './live/gex-streams.ts';
import { methodNotAllowed } from './problem-details.ts';

/** The transports of MCP, which need to know who is asking. */
export interface McpTransports {
  /** The contract's pair. */
  readonly sse: {
    open(account: Account): Response;
    session(account: Account, sessionId: string | null): { receive(body: unknown): Response };
  };
  readonly streamable: { handle(account: Account, request: Request, body?: unknown): Promise<Response> };
}

/** Streams without end: MCP's, and the live levels. */
export const streamRoutes =
  ({ sse, streamable }: McpTransports, gexStreams: GexStreams) =>
  (app: HttpApp) => {
    return app
      .get('/api/v1/stream/gex/:ticker', ({ request, params: { ticker }, account, set }) => {
        refuseHead(request);
        const query = queryOf(request.url);
        const opened = gexStreams.open({ account: account!, headers: request.headers, tickers: ticker, query });
        return withDefaults(opened, set);
      })
      .get('/sse', ({ request, account, set }) => {
        refuseHead(request);
        return withDefaults(sse.open(account!), set);
      })
      .post(
        '/messages',
        async ({ request, account, set }) => {
          const session = sse.session(account!, queryOf(request.url).get('sessionId'));
          refuseOtherThanJson(request.headers);
          return withDefaults(session.receive(await readJson(request)), set);
        },
        UNPARSED,
      )
      .get('/mcp', async ({ request, account, set }) => {
        refuseHead(request);
        return withDefaults(await streamable.handle(account!, request), set);
      })
      .post(
        '/mcp',
        async ({ request, account, set }) => {
          const body = await readJson(request).catch(notJson);
          const answer = body instanceof Response ? body : await streamable.handle(account!, request, body);
          return withDefaults(answer, set);
        },
        UNPARSED,
      )
      .delete(
        '/mcp',
        async ({ request, account, set }) => withDefaults(await streamable.handle(account!, request), set),
        UNPARSED,
      );
  };

const UNPARSED = { parse: 'none' } as const;

/** A stream has no end, and so no length that HEAD could tell. */
function refuseHead({ method }: Request): void {
  if (method === 'HEAD') throw methodNotAllowed(['GET']);
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
