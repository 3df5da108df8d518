import type { JSONRPCMessage, RequestId, Server, Transport } from '@modelcontextprotocol/server';
import type { Account } from '../../access/access.ts';
import type { StreamEnd, WatchedStream } from '../../access/stream-watch.ts';
import type { McpSession } from '../parts.ts';
import { takesResourceLinks } from '../resource-links.ts';
import { type ClientStream, createClientStream, PING } from './client-stream.ts';
import { SignsOfLife } from './signs-of-life.ts';

export interface SseSessionParts {
  readonly account: Account;
  /** Address and port of its client, where its connection is known. */
  readonly peer?: string | undefined;
  /** Where what it follows is counted; without it, nothing is. */
  readonly followed?: Set<string>;
  /** Where the client posts to. */
  readonly endpoint: string;
  /** Makes a protocol engine. */
  readonly createServer: (session: McpSession) => Server;
  /** Told once, when the stream has ended. */
  readonly ended: () => void;
}

/**
 * One client of HTTP+SSE (2024-11-05): `endpoint` first, then one `message` event for each message to it. Its protocol engine is there while
 * requests are under way and no longer: most sessions are idle most of the time, and an engine is larger than all else of them.
 */
export class SseSession implements Transport, WatchedStream, McpSession {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly account: Account;
  /** Undefined before the client has said who it is. */
  takesLinks: boolean | undefined;
  readonly followed: Set<string>;
  private engine: Server | undefined;
  /** Requests without an answer yet; none where there is no engine. */
  private readonly pending = new Set<RequestId>();
  private readonly stream: ClientStream;
  private readonly life = new SignsOfLife();
  private isOver = false;

  constructor(private readonly parts: SseSessionParts) {
    this.account = parts.account;
    this.followed = parts.followed ?? new Set();
    this.stream = createClientStream(() => this.over());
    this.stream.write(`event: endpoint\ndata: ${parts.endpoint}\n\n`);
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
    // The rest of a batch comes in turns of its own.
    if (this.isOver) return;
    this.life.heard();
    if ('method' in message && 'id' in message) {
      this.pending.add(message.id);
      this.engine ??= this.begin();
    }
    // Without an engine nothing is under way that a notification could be about, and nothing was asked that an answer could be to.
    this.onmessage?.(message);
    // To what was cancelled there is no answer.
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.settled(message.params?.requestId as RequestId);
    }
  }

  /** Whether the client has said who it is. */
  get hasBegun(): boolean {
    return this.takesLinks !== undefined;
  }

  /** The stream is open already. */
  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    if (!('method' in message) && message.id !== undefined) this.settled(message.id);
  }

  isSilent(nowMs: number): boolean {
    return this.life.isSilent(nowMs);
  }

  ping(nowMs: number): void {
    if (this.life.shallAsk(nowMs)) void this.send({ jsonrpc: '2.0', id: PING_ID, method: 'ping' });
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
    this.parts.ended();
  }
}

const PING_ID = 'zomma-ping';
