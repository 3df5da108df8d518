import type {
  CallToolResult,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
  RequestMeta,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { memoizeByObject } from '../../core/cache.ts';
import { oneStep } from '../../core/steps.ts';
import { sseEvent } from '../../sse/sse-format.ts';
import { callTool } from '../call-tool.ts';
import { readsResources } from '../known-clients.ts';
import type { CancelSignal, McpSession } from '../mcp-deps.ts';
import { identityOf } from '../server-identity.ts';
import { listedToolsText } from '../tool-definitions.ts';
import { BatchDelivery } from './batch.ts';
import { type GuardedStream, guardResponse, isEventStream, openGuardedStream } from './guarded-stream.ts';
import { Liveness, PING_ID } from './liveness.ts';
import type { PlainCall, PlainInitialize } from './plain-call.ts';
import { SubscribedResources } from './session-quota.ts';
import type { TransportDeps } from './transport-deps.ts';

/**
 * A session of Streamable HTTP. Each POST gets a new transport, and each POST with requests also gets a new SDK server. The transport and
 * the server are removed after the answers. Most sessions are idle, and an SDK server takes more memory than the rest of a session.
 */
export class StreamableSession implements McpSession {
  /** True if the client's model can read resources. Undefined until the client has identified itself with `initialize`. */
  readsResources: boolean | undefined;
  readonly subscribed: SubscribedResources;
  readonly liveness = new Liveness();
  /** The unanswered POSTs, by transport. */
  private readonly posts = new Map<WebStandardStreamableHTTPServerTransport, Post>();
  /** The current tool calls that the session answers without an SDK server. */
  private readonly calls = new Set<CallSignal>();
  /** The session's notification stream. Undefined if the client has not opened this stream. */
  private notificationStream: GuardedStream | undefined;

  constructor(
    readonly id: string,
    readonly account: Account,
    private readonly deps: TransportDeps,
  ) {
    this.subscribed = new SubscribedResources(deps.quota.subscriptions, account.id);
  }

  /** True if the client has identified itself with `initialize`. */
  get hasBegun(): boolean {
    return this.readsResources !== undefined;
  }

  /** Answers a tool call as the SDK does, but without the SDK, which takes three times as much time as most tools. */
  async call(request: Request, { id, name, args }: PlainCall): Promise<Response> {
    const { deps, account } = this;
    deps.streams.assertCapacity(account);
    const signal = new CallSignal(id, request);
    this.calls.add(signal);
    try {
      const result = await callTool(deps, {
        account,
        name,
        args,
        signal,
        linksResources: this.readsResources ?? false,
      });
      if (signal.aborted) return new Response(null, { status: 202 });
      return this.respond(id, textOf(result));
    } finally {
      this.calls.delete(signal);
    }
  }

  /** Answers `initialize` without the SDK, whose schemas take longer to build than the rest of a first answer. */
  begin({ id, revision, client }: PlainInitialize): Response {
    this.deps.streams.assertCapacity(this.account);
    this.readsResources = readsResources(client);
    return this.respond(id, JSON.stringify({ protocolVersion: revision, ...identityOf(this.deps) }));
  }

  /** Answers a request for the list of tools without the SDK. The list is a constant text, which is identical to the SDK's answer. */
  list(id: RequestId): Response {
    this.deps.streams.assertCapacity(this.account);
    return this.respond(id, listedToolsText(this.deps));
  }

  private respond(id: RequestId, result: string): Response {
    const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
    return new Response(text, { headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': this.id } });
  }

  /** Answers a POST with a message or a batch. */
  async post(request: Request, body: unknown): Promise<Response> {
    this.deps.streams.assertCapacity(this.account);
    const { createMcpServer, isJSONRPCNotification, isJSONRPCRequest } = await import('./sdk.ts');
    const messages = (Array.isArray(body) ? body : [body]) as JSONRPCMessage[];
    const isPlain = !Array.isArray(body) && !wantsProgress(body);
    const transport = await createTransport(isPlain);
    const server = messages.some(isJSONRPCRequest) ? createMcpServer(this.deps, this) : undefined;
    await server?.connect(transport);
    if (messages.length > 1) this.deliverInTurn(transport);
    const dropped = Promise.withResolvers<Response>();
    const drop = () => dropped.resolve(new Response(null, { status: 202 }));
    if (server)
      this.posts.set(transport, { id: messages.length === 1 ? (body as JSONRPCRequest).id : undefined, drop });
    const cleanUp = () => {
      // If the listener were not removed, it would keep the request in memory until the connection closes.
      request.signal.removeEventListener('abort', drop);
      this.closePost(transport, server);
    };
    request.signal.addEventListener('abort', drop);
    const handle = () => transport.handleRequest(request, { parsedBody: body });
    // The SDK takes some milliseconds to parse the messages of a batch, so the scheduler runs the parsing as a step.
    const handled = messages.length > 1 ? this.runInScheduler(handle) : handle();
    const response = await Promise.race([handled, dropped.promise]).catch((error: unknown) => {
      cleanUp();
      throw error;
    });
    if (response.ok) for (const each of messages) if (isJSONRPCNotification(each)) this.forwardToPosts(each);
    if (response.ok && server) response.headers.set('Mcp-Session-Id', this.id);
    if (isEventStream(response)) {
      const peer = this.deps.peerOf?.(request);
      return guardResponse(response, this.account, this.deps, { peer, isAnswer: true, onEnd: cleanUp });
    }
    cleanUp();
    return response;
  }

  /** Opens the session's notification stream. Closes the old stream, because its connection may be lost. */
  async listen(request: Request): Promise<Response> {
    this.deps.streams.assertCapacity(this.account);
    // The SDK's transport only checks the request. The session opens its own stream, which takes half as much memory as the SDK's stream.
    const transport = await createTransport(false);
    const { status, headers, body } = await transport.handleRequest(request);
    if (status !== 200) return new Response(body, { status, headers });
    void transport.close();
    headers.set('Mcp-Session-Id', this.id);
    return new Response(this.openNotificationStream(this.deps.peerOf?.(request)), { headers });
  }

  /** Opens the stream. Separate from `listen`, whose scope has the request and would stay in memory with the stream's closures. */
  private openNotificationStream(peer: string | undefined): ReadableStream<Uint8Array> {
    this.notificationStream?.close();
    const { liveness } = this;
    const stream = openGuardedStream(this.account, this.deps, {
      peer,
      liveness: {
        isSilent: (nowMs) => liveness.isSilent(nowMs),
        pingIfDue: (nowMs) =>
          liveness.shouldPing(nowMs) && this.notify({ jsonrpc: '2.0', id: PING_ID, method: 'ping' }),
      },
      onEnd: () => {
        if (this.notificationStream === stream) this.notificationStream = undefined;
      },
    });
    this.notificationStream = stream;
    return stream.body;
  }

  /** Sends a message on the notification stream. Drops the message if there is no stream. */
  notify(message: JSONRPCMessage): void {
    this.notificationStream?.write(sseEvent('message', JSON.stringify(message)));
  }

  /** Ends the session's streams and its requests in progress. */
  end(): void {
    this.notificationStream?.close();
    this.subscribed.clear();
    for (const call of this.calls) call.isDropped = true;
    for (const [transport, { drop }] of this.posts) {
      void transport.close();
      drop();
    }
  }

  /** Forwards a notification to the current POSTs and calls. A cancellation arrives so, and the canceled request gets no answer. */
  private forwardToPosts(message: JSONRPCNotification): void {
    const cancelled = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined;
    for (const call of this.calls) if (call.id === cancelled) call.isDropped = true;
    for (const [transport, { id, drop }] of this.posts) {
      transport.onmessage?.(message);
      if (id === undefined || id !== cancelled) continue;
      drop();
      void transport.close();
    }
  }

  private async runInScheduler<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.deps.scheduler.run({ account: this.account.id, name: 'mcp batch', steps: oneStep(work) });
  }

  /** Delivers the messages of a batch in separate steps of the scheduler, because a batch can cause as much work as many POSTs. */
  private deliverInTurn(transport: WebStandardStreamableHTTPServerTransport): void {
    const deliver = transport.onmessage;
    type Delivered = Parameters<NonNullable<typeof deliver>>;
    const delivery = new BatchDelivery<Delivered>(this.deps, this.account, (each) => {
      if (this.posts.has(transport)) deliver?.(...each);
    });
    transport.onmessage = (...each) => delivery.add(each as Delivered);
  }

  private closePost(transport: WebStandardStreamableHTTPServerTransport, server: Server | undefined): void {
    const client = server?.getClientVersion();
    if (client) this.readsResources = readsResources(client);
    this.posts.delete(transport);
    void transport.close();
  }
}

/** Returns a result as JSON text. The text of a cached result is written once. */
const textOf = memoizeByObject((result: CallToolResult) => JSON.stringify(result));

/** The cancel signal of a call. The signal is aborted if the client cancels the call or disconnects. */
class CallSignal implements CancelSignal {
  isDropped = false;

  constructor(
    readonly id: RequestId,
    private readonly request: Request,
  ) {}

  get aborted(): boolean {
    return this.isDropped || this.request.signal.aborted;
  }
}

interface Post {
  /** Id of the request in a POST with one message. Undefined for a batch. */
  readonly id: RequestId | undefined;
  /** Sends an empty response with the status 202 if no answer has begun. The client no longer waits for the answer. */
  drop(): void;
}

/** Creates a transport for one HTTP request. The transport checks headers and messages, and sends answers as plain JSON or as events. */
async function createTransport(enableJsonResponse: boolean): Promise<WebStandardStreamableHTTPServerTransport> {
  const { WebStandardStreamableHTTPServerTransport } = await import('./sdk.ts');
  return new WebStandardStreamableHTTPServerTransport({ keepAliveMs: 0, enableJsonResponse });
}

function wantsProgress(body: unknown): boolean {
  return (body as { params?: { _meta?: RequestMeta } } | null)?.params?._meta?.progressToken !== undefined;
}
