import type { Message } from './line-client.ts';

/** A request to the server: a message, or `GET` or `DELETE` of a session. */
export interface ScriptedRequest {
  readonly what: string;
  readonly path: string;
  readonly session: string | null;
  readonly revision: string | null;
  readonly message: Message;
  readonly signal: AbortSignal;
}

/** Answers the requests that the script covers. Returns `undefined` to leave a request to the server. */
export type Script = (request: ScriptedRequest) => Response | Promise<Response> | undefined;

/** An MCP server over Streamable HTTP that does what the script says, and otherwise answers with the id of the session. */
export interface ScriptedServer {
  readonly url: URL;
  readonly seen: readonly ScriptedRequest[];
  /** Returns how often this request came. */
  count(what: string, session?: string): number;
  script: Script;
  /** The version of the tools. The server sends it with the first answer of each session. */
  registry: string;
  /** Acts like a restart: the server no longer knows any session, and streams end. */
  forget(): void;
  stop(): Promise<void>;
}

export function scriptedServer(): ScriptedServer {
  const seen: ScriptedRequest[] = [];
  const sessions = new Map<string, ReadableStreamDefaultController<string> | undefined>();
  let opened = 0;

  const answer = (request: ScriptedRequest): Response => {
    const { what, session, message } = request;
    if (what === 'initialize') {
      const id = `s${++opened}`;
      sessions.set(id, undefined);
      const capabilities = { experimental: { 'zomma/registry': { version: server.registry } } };
      return result(message, { protocolVersion: '2025-11-25', capabilities }, { 'Mcp-Session-Id': id });
    }
    if (session !== null && !sessions.has(session)) return new Response(null, { status: 404 });
    if (what === 'GET') return listening((controller) => sessions.set(session!, controller));
    return message.id === undefined ? new Response(null, { status: 202 }) : result(message, { session });
  };

  const http = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const message = (request.method === 'POST' ? await request.json() : {}) as Message;
      const scripted: ScriptedRequest = {
        what: message.method ?? request.method,
        path: new URL(request.url).pathname,
        session: request.headers.get('mcp-session-id'),
        revision: request.headers.get('mcp-protocol-version'),
        message,
        signal: request.signal,
      };
      seen.push(scripted);
      return server.script(scripted) ?? answer(scripted);
    },
  });

  const server: ScriptedServer = {
    url: http.url,
    seen,
    count: (what, session) =>
      seen.filter((request) => request.what === what && (session === undefined || request.session === session)).length,
    script: () => undefined,
    registry: 'v1',
    forget() {
      for (const controller of sessions.values()) controller?.close();
      sessions.clear();
    },
    stop: () => http.stop(true),
  };
  return server;
}

export function result({ id }: Message, value: unknown, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers });
}

/** Returns a stream that sends these messages and ends. */
export function streamOf(...messages: readonly Message[]): Response {
  return eventStream(messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`).join(''));
}

/** Returns a stream that stays open. Its retry delay lets the client reconnect at once. */
export function listening(opened: (controller: ReadableStreamDefaultController<string>) => void = () => {}): Response {
  return eventStream(
    new ReadableStream({
      start(controller) {
        controller.enqueue('retry: 1\n\n');
        opened(controller);
      },
    }),
  );
}

function eventStream(body: string | ReadableStream<string>): Response {
  return new Response(body as string, { headers: { 'Content-Type': 'text/event-stream' } });
}
