import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** A client that reads slower than this much behind is let go: its stream would grow without end. */
const UNREAD_BYTES_MAX = 256 * 1024;
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
  private closed = false;

  constructor(private readonly endpoint: string) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        cancel: () => this.close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES_MAX }),
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
    if ((this.controller.desiredSize ?? 0) <= 0) {
      void this.close();
      return;
    }
    this.controller.enqueue(encoder.encode(text));
  }
}

const encoder = new TextEncoder();
