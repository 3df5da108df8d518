import type { JSONRPCMessage, RequestId, Server, Transport } from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import { PING, sseEvent } from '../../sse/sse-format.ts';
import type { RegisteredStream, StreamEnd } from '../../sse/stream-registry.ts';
import type { McpSession } from '../mcp-deps.ts';
import { takesResourceLinks } from '../resource-links.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import { Liveness } from './liveness.ts';

export interface SseSessionDeps {
  readonly account: Account;
  /** Address and port of the client, if its connection is known. */
  readonly peer?: string | undefined;
  /** The set for the subscribed URIs, which counts them against the quota. If absent, subscriptions are not counted. */
  readonly followed?: Set<string>;
  /** The URL that the client posts to. */
  readonly endpoint: string;
  /** Creates an SDK server for the session. */
  readonly createServer: (session: McpSession) => Server;
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
}

/**
 * The session of one HTTP+SSE client (revision 2024-11-05). The stream sends an `endpoint` event first, then a `message` event for each
 * message. The session has an SDK server only while requests are under way: most sessions are idle most of the time, and an SDK server
 * takes more memory than the rest of a session.
 */
export class SseSession implements Transport, RegisteredStream, McpSession {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly account: Account;
  /** Undefined until the client has identified itself with `initialize`. */
  takesLinks: boolean | undefined;
  readonly followed: Set<string>;
  private engine: Server | undefined;
  /** Requests without an answer yet. Empty if there is no SDK server. */
  private readonly pending = new Set<RequestId>();
  private readonly stream: ClientStream;
  private readonly life = new Liveness();
  private isOver = false;

  constructor(private readonly parts: SseSessionDeps) {
    this.account = parts.account;
    this.followed = parts.followed ?? new Set();
    this.stream = createClientStream(() => this.over());
    this.stream.write(sseEvent('endpoint', parts.endpoint));
  }

  get body(): ReadableStream<Uint8Array> {
    return this.stream.body;
  }

  get peer(): string | undefined {
    return this.parts.peer;
  }

  get behindSince(): number | undefined {
    return this.stream.behindSince;
  }

  get unreadBytes(): number {
    return this.stream.unreadBytes;
  }

  receive(message: JSONRPCMessage): void {
    // The later messages of a batch come in later steps. The session may have ended by then.
    if (this.isOver) return;
    this.life.touch();
    if ('method' in message && 'id' in message) {
      this.pending.add(message.id);
      this.engine ??= this.begin();
    }
    // Without an SDK server no request is under way, so a notification or an answer refers to nothing and is dropped.
    this.onmessage?.(message);
    // A canceled request gets no answer.
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.settled(message.params?.requestId as RequestId);
    }
  }

  /** Whether the client has identified itself with `initialize`. */
  get hasBegun(): boolean {
    return this.takesLinks !== undefined;
  }

  /** Does nothing: the stream is open already. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.stream.write(sseEvent('message', JSON.stringify(message)));
    if (!('method' in message) && message.id !== undefined) this.settled(message.id);
  }

  isSilent(nowMs: number): boolean {
    return this.life.isSilent(nowMs);
  }

  ping(nowMs: number): void {
    if (this.life.shouldPing(nowMs)) void this.send({ jsonrpc: '2.0', id: PING_ID, method: 'ping' });
    else this.stream.write(PING);
  }

  end(reason: StreamEnd): void {
    this.stream.end(reason);
    this.over();
  }

  async close(): Promise<void> {
    this.end('shutdown');
  }

  private begin(): Server {
    const engine = this.parts.createServer(this);
    void engine.connect(this);
    return engine;
  }

  private settled(id: RequestId): void {
    this.pending.delete(id);
    if (this.pending.size > 0 || !this.engine) return;
    const client = this.engine.getClientVersion();
    if (client) this.takesLinks = takesResourceLinks(this.engine.getNegotiatedProtocolVersion(), client);
    this.engine = undefined;
    this.onmessage = undefined;
    this.onclose = undefined;
    this.onerror = undefined;
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.followed.clear();
    this.onclose?.();
    this.parts.onEnd();
  }
}

const PING_ID = 'zomma-ping';
