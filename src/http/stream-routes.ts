import { ClientError } from '../core/errors.ts';
import { isRecord } from '../core/json-shape.ts';
import { assertJsonType, readJson } from './body.ts';
import { type HttpApp, queryOf, strictQuery, withDefaults } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { methodNotAllowed } from './problem-details.ts';

/** Adds the routes of MCP and of the live levels. The streams of these routes do not end by themselves. */
export const streamRoutes =
  ({ mcp, gexStreams, loaded, budget, connections }: HttpDeps) =>
  (app: HttpApp) =>
    app
      .get('/api/v1/stream/gex/:ticker', ({ request, params: { ticker }, account, set }) => {
        refuseHead(request);
        const query = strictQuery(request.url, ['last_event_id', 'on']);
        const peer = connections?.peerOf(request);
        const opened = gexStreams.open({ account: account!, headers: request.headers, tickers: ticker, query, peer });
        return withDefaults(opened, set);
      })
      .get('/sse', async ({ request, account, set }) => {
        refuseHead(request);
        const { sse } = await mcp.load();
        return withDefaults(await sse.open(account!, request), set);
      })
      .post('/messages', async ({ request, account, set }) => {
        const { sse } = await mcp.load();
        const session = sse.session(account!, queryOf(request.url).get('sessionId'));
        assertJsonType(request.headers);
        const message = await readJson(request, { budget, account: account!.id });
        if (needsData(message)) await loaded();
        return withDefaults(await session.receive(message), set);
      })
      .get('/mcp', async ({ request, account, set }) => {
        refuseHead(request);
        const { streamable } = await mcp.load();
        return withDefaults(await streamable.handle(account!, request), set);
      })
      .post('/mcp', async ({ request, account, set }) => {
        const body = await readJson(request, { budget, account: account!.id }).catch(notJson);
        if (body instanceof Response) return withDefaults(body, set);
        const { streamable } = await mcp.load();
        if (needsData(body)) await loaded();
        return withDefaults(await streamable.handle(account!, request, body), set);
      })
      .delete('/mcp', async ({ request, account, set }) => {
        const { streamable } = await mcp.load();
        return withDefaults(await streamable.handle(account!, request), set);
      });

/** Returns whether the answer to a message needs market data. A batch needs market data if any message in the batch needs market data. */
function needsData(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(needsData);
  return isRecord(body) && (body.method === 'tools/call' || body.method === 'resources/read');
}

/** Throws `ClientError` (405) for HEAD. A stream has no end, so HEAD cannot report a length. */
function refuseHead({ method }: Request): void {
  if (method === 'HEAD') throw methodNotAllowed(['GET']);
}

/** Returns a JSON-RPC error for a body on `/mcp` that cannot be read or parsed. Throws every other error again. */
function notJson(error: unknown): Response {
  if (!(error instanceof ClientError) || error.code !== 'invalid_body') throw error;
  const { message, hint } = error;
  return Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: `Parse error: ${message}`, data: { hint } } },
    { status: 400 },
  );
}
