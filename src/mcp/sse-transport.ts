import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** A client may be this far behind for BEHIND_MS_MAX, and never UNREAD_BYTES_MAX: its stream would grow without end. */
const BEHIND_BYTES = 256 * 1024;
const BEHIND_MS_MAX = 10_000;
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
/** Below every idle limit between here and a client. */
const PING_INTERVAL_MS = 15_000;
/** How soon a client whose stream was closed may come back. */
const RETRY_MS = 2_000;

/** MCP over a web stream: `endpoint` first, then one `message` event for each message to the client (HTTP+SSE, 2024-11-05). */
export class SseTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly stream: ReadableStream<Uint8Array>;
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private ping: ReturnType<typeof setInterval> | undefined;
  private behind: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor(private readonly endpoint: string) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        // Called when the client has caught up.
        pull: () => {
          clearTimeout(this.behind);
          this.behind = undefined;
        },
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BEHIND_BYTES }),
    );
  }

  async start(): Promise<void> {
    this.write(`event: endpoint\ndata: ${this.endpoint}\n\n`);
    this.ping = setInterval(() => this.write(': ping\n\n'), PING_INTERVAL_MS);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.ping);
    clearTimeout(this.behind);
    try {
      this.controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      this.controller.close();
    } catch {
      // The client has closed it already.
    }
    this.onclose?.();
  }

  private write(text: string): void {
    if (this.closed) return;
    this.controller.enqueue(encoder.encode(text));
    const room = this.controller.desiredSize ?? 0;
    if (room < BEHIND_BYTES - UNREAD_BYTES_MAX) void this.close();
    else if (room <= 0) this.behind ??= setTimeout(() => void this.close(), BEHIND_MS_MAX);
  }
}

const encoder = new TextEncoder();
