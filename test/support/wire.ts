import type { Socket } from 'bun';

/** An answer as it came. Bytes are Latin-1 characters, so that the lengths match. */
export interface WireAnswer {
  readonly status: number;
  /** Status line and header, as sent. */
  readonly head: string;
  readonly body: string;
}

/**
 * HTTP/1.1 without a library over one socket, one request at a time: for thousands of cheap clients, and for requests that no library would
 * send.
 */
export class Wire {
  private unsent: Uint8Array = EMPTY;
  private rest = '';
  private head: string | undefined;
  /** Bytes of the body still to come. In a chunked body: bytes of the chunk, with its line end. */
  private left = 0;
  private chunked = false;
  private body = '';
  private answered: PromiseWithResolvers<WireAnswer> | undefined;
  isEnded = false;
  /** Settles when either side closes the socket, or when a stream ends. */
  readonly closed = Promise.withResolvers<void>();

  private constructor(
    readonly socket: Socket<undefined>,
    private readonly streamed: ((text: string) => void) | undefined,
  ) {}

  /** `streamed` gets the bodies of chunked answers as they come. Without it they are collected until their end. */
  static async open(url: string, streamed?: (text: string) => void): Promise<Wire> {
    const { hostname, port } = new URL(url);
    let wire: Wire | undefined;
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => wire!.take(bytes.toString('latin1')),
        drain: () => wire!.flush(),
        close: () => wire?.over(),
        error: () => wire?.over(),
      },
    });
    wire = new Wire(socket, streamed);
    return wire;
  }

  /**
   * Sends a whole request. Rejects if the socket is closed before the answer is complete, or before the header if the answer is a stream.
   */
  ask(request: string | Uint8Array): Promise<WireAnswer> {
    if (this.isEnded) return Promise.reject(new Error('the socket is closed'));
    this.answered = Promise.withResolvers();
    this.send(request);
    return this.answered.promise;
  }

  send(bytes: string | Uint8Array): void {
    const given = typeof bytes === 'string' ? encoder.encode(bytes) : bytes;
    this.unsent = this.unsent.length > 0 ? Buffer.concat([this.unsent, given]) : given;
    this.flush();
  }

  /** Closes without a goodbye. Unread data is lost. */
  cut(): void {
    this.socket.terminate();
    this.over();
  }

  private flush(): void {
    while (this.unsent.length > 0) {
      const sent = this.socket.write(this.unsent);
      if (sent <= 0) return;
      this.unsent = this.unsent.subarray(sent);
    }
  }

  private over(): void {
    this.isEnded = true;
    this.answered?.reject(new Error('the socket was closed before the answer'));
    this.closed.resolve();
  }

  private take(text: string): void {
    this.rest += text;
    while (this.step());
  }

  /** Takes one part out of the received data: a header, a chunk, a whole body. Returns false if the part is not complete yet. */
  private step(): boolean {
    if (this.head === undefined) return this.takeHead();
    if (this.chunked && this.left === 0) {
      const end = this.rest.indexOf('\r\n');
      if (end < 0) return false;
      this.left = Number.parseInt(this.rest.slice(0, end), 16) + CRLF;
      this.rest = this.rest.slice(end + CRLF);
    }
    if (this.rest.length < this.left) return false;
    const data = this.rest.slice(0, this.chunked ? this.left - CRLF : this.left);
    this.rest = this.rest.slice(this.left);
    this.left = 0;
    if (this.chunked && this.streamed) this.streamed(data);
    else this.body += data;
    if (!this.chunked || data === '') this.finish();
    return true;
  }

  private takeHead(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    this.head = this.rest.slice(0, end);
    this.rest = this.rest.slice(end + 2 * CRLF);
    this.chunked = /^transfer-encoding: chunked/im.test(this.head);
    this.left = Number(/^content-length: (\d+)/im.exec(this.head)?.[1] ?? 0);
    if (this.chunked && this.streamed) this.answered?.resolve(answerOf(this.head, ''));
    return true;
  }

  private finish(): void {
    this.answered?.resolve(answerOf(this.head!, this.body));
    if (this.streamed) this.over();
    this.head = undefined;
    this.body = '';
  }
}

/** Returns a request as text. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): string {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const fields = {
    Host: 'localhost',
    ...(text !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text ?? ''}`;
}

function answerOf(head: string, body: string): WireAnswer {
  return { status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), head, body };
}

const CRLF = 2;
const EMPTY = new Uint8Array();
const encoder = new TextEncoder();
