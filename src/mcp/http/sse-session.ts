import type { JSONRPCMessage, RequestId, Server, Transport } from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import type { StreamEnd } from '../../core/events.ts';
import type { StreamQueue } from '../../sse/bounded-stream.ts';
import { PING, sseEvent } from '../../sse/sse-format.ts';
import type { RegisteredStream } from '../../sse/stream-registry.ts';
import { readsResources } from '../known-clients.ts';
import type { McpSession } from '../mcp-deps.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import { Liveness, PING_ID } from './liveness.ts';

export interface SseSessionDeps {
  readonly account: Account;
  /** Address and port of the client, if the connection is known. */
  readonly peer?: string | undefined;
  /** The set of subscribed URIs. The subscription quota counts these URIs. If the set is absent, no URIs are counted. */
  readonly subscribed?: Set<string>;
  /** The URL for the POSTs of the client. */
  readonly endpoint: string;
  /** Creates an SDK server for the session. */
  readonly createServer: (session: McpSession) => Server;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/**
 * The session of one HTTP+SSE client (revision 2024-11-05): an `endpoint` event, then a `message` event for each message. It has an SDK
 * server only during requests, because most sessions are idle, and an SDK server takes more memory than the rest of a session.
 */
export class SseSession implements Transport, RegisteredStream, McpSession {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly account: Account;
  /** True if the client's model can read resources. Undefined until the client has identified itself with `initialize`. */
  readsResources: boolean | undefined;
  readonly subscribed: Set<string>;
  private server: Server | undefined;
  /** The unanswered requests. Empty if there is no SDK server. */
  private readonly pending = new Set<RequestId>();
  private readonly stream: ClientStream;
  private readonly liveness = new Liveness();
  private hasEnded = false;

  constructor(private readonly deps: SseSessionDeps) {
    this.account = deps.account;
    this.subscribed = deps.subscribed ?? new Set();
    this.stream = createClientStream(() => this.handleEnd());
    this.stream.write(sseEvent('endpoint', deps.endpoint));
  }

  get body(): ReadableStream<Uint8Array> {
    return this.stream.body;
  }

  get peer(): string | undefined {
    return this.deps.peer;
  }

  get queue(): StreamQueue {
    return this.stream.queue;
  }

  receive(message: JSONRPCMessage): void {
    // The session may have ended before a later message of a batch is delivered.
    if (this.hasEnded) return;
    this.liveness.touch();
    if ('method' in message && 'id' in message) {
      this.pending.add(message.id);
      this.server ??= this.startServer();
    }
    // Without an SDK server, no request is in progress, so notifications and answers are dropped.
    this.onmessage?.(message);
    // A canceled request gets no answer.
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.completeRequest(message.params?.requestId as RequestId);
    }
  }

  /** True if the client has identified itself with `initialize`. */
  get hasBegun(): boolean {
    return this.readsResources !== undefined;
  }

  /** Does nothing, because the stream is already open. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.stream.write(sseEvent('message', JSON.stringify(message)));
    if (!('method' in message) && message.id !== undefined) this.completeRequest(message.id);
  }

  isSilent(nowMs: number): boolean {
    return this.liveness.isSilent(nowMs);
  }

  ping(nowMs: number): void {
    if (this.liveness.shouldPing(nowMs)) void this.send({ jsonrpc: '2.0', id: PING_ID, method: 'ping' });
    else this.stream.write(PING);
  }

  end(reason: StreamEnd): void {
    this.stream.end(reason);
    this.handleEnd();
  }

  async close(): Promise<void> {
    this.end('shutdown');
  }

  private startServer(): Server {
    const server = this.deps.createServer(this);
    void server.connect(this);
    return server;
  }

  private completeRequest(id: RequestId): void {
    this.pending.delete(id);
    if (this.pending.size > 0 || !this.server) return;
    const client = this.server.getClientVersion();
    if (client) this.readsResources = readsResources(client);
    this.server = undefined;
    this.onmessage = undefined;
    this.onclose = undefined;
    this.onerror = undefined;
  }

  private handleEnd(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.subscribed.clear();
    this.onclose?.();
    this.deps.onEnd();
  }
}
