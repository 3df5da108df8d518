import type { Account } from '../access/access.ts';
import { Failure } from '../errors.ts';
import { readJson, refuseOtherThanJson } from './body.ts';
import { type HttpApp, queryOf, type RequestContext, withHead } from './http-app.ts';
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
    const ofSession = async (asked: RequestContext) =>
      withHead(await streamable.handle(asked.account!, asked.request), asked);
    return app
      .get('/api/v1/stream/gex/:ticker', (asked) => {
        refuseHead(asked.request);
        const { request, account, params } = asked;
        const query = queryOf(request.url);
        const wanted = { account: account!, headers: request.headers, tickers: params.ticker, query };
        return withHead(gexStreams.open(wanted), asked);
      })
      .get('/sse', (asked) => {
        refuseHead(asked.request);
        return withHead(sse.open(asked.account!), asked);
      })
      .post(
        '/messages',
        async (asked) => {
          const { request, account } = asked;
          const session = sse.session(account!, queryOf(request.url).get('sessionId'));
          refuseOtherThanJson(request.headers);
          return withHead(session.receive(await readJson(request)), asked);
        },
        UNPARSED,
      )
      .get('/mcp', async (asked) => {
        refuseHead(asked.request);
        return ofSession(asked);
      })
      .post(
        '/mcp',
        async (asked) => {
          const body = await readJson(asked.request).catch(notJson);
          if (body instanceof Response) return withHead(body, asked);
          return withHead(await streamable.handle(asked.account!, asked.request, body), asked);
        },
        UNPARSED,
      )
      .delete('/mcp', ofSession, UNPARSED);
  };

const UNPARSED = { parse: 'none' } as const;

/** A stream has no end, and so no length that HEAD could tell. */
function refuseHead({ method }: Request): void {
  if (method === 'HEAD') throw methodNotAllowed('GET');
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
