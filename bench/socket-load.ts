import type { Socket } from 'bun';

/** Gives the bytes of a connection's next request; may reuse the buffer of the one before. */
export type NextRequest = () => Uint8Array;

export interface LoadFigures {
  readonly requests: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Answers of another status than the expected one. */
  readonly unexpected: number;
}

export interface SocketLoad {
  /** Each connection sends its next request as soon as it has an answer, until the time is over; resolves when all have their last answer. */
  run(ms: number): Promise<LoadFigures>;
  close(): void;
}

/**
 * An HTTP/1.1 load generator over raw sockets: requests are prepared bytes; of an answer it reads status and Content-Length, and counts the
 * bytes of the body. An HTTP library would need more CPU than the servers under test. Opens one keep-alive connection for each of
 * `requests`, with one request at a time on each. `run` throws an error if the server closes a connection or sends no Content-Length.
 */
export async function openSocketLoad(
  url: string,
  requests: readonly NextRequest[],
  expectedStatus: number,
): Promise<SocketLoad> {
  const connections = await Promise.all(requests.map((next) => Connection.open(url, next, expectedStatus)));
  return {
    async run(ms) {
      const startedAt = performance.now();
      const counts = await Promise.all(connections.map((each) => each.run(startedAt + ms)));
      return {
        requests: counts.reduce((sum, { requests }) => sum + requests, 0),
        seconds: (performance.now() - startedAt) / 1_000,
        unexpected: counts.reduce((sum, { unexpected }) => sum + unexpected, 0),
      };
    },
    close() {
      for (const each of connections) each.close();
    },
  };
}

type Counts = Pick<LoadFigures, 'requests' | 'unexpected'>;

class Connection {
  private socket!: Socket<undefined>;
  private unsent: Uint8Array = EMPTY;
  /** The start of a header whose end has not arrived. */
  private partial: Buffer | undefined;
  /** Bytes of the body that have not arrived. */
  private left = 0;
  private requests = 0;
  private unexpected = 0;
  private until = 0;
  private done: PromiseWithResolvers<Counts> | undefined;
  private failure: Error | undefined;

  private constructor(
    private readonly next: NextRequest,
    private readonly expectedStatus: number,
  ) {}

  static async open(url: string, next: NextRequest, expectedStatus: number): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const connection = new Connection(next, expectedStatus);
    connection.socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => connection.take(bytes),
        drain: () => connection.flush(),
        close: () => connection.fail('the server closed a connection'),
        error: (_, { message }) => connection.fail(message),
      },
    });
    return connection;
  }

  run(until: number): Promise<Counts> {
    if (this.failure) return Promise.reject(this.failure);
    this.until = until;
    this.requests = 0;
    this.unexpected = 0;
    this.done = Promise.withResolvers();
    this.ask();
    return this.done.promise;
  }

  close(): void {
    this.socket.terminate();
  }

  private ask(): void {
    this.unsent = this.next();
    this.flush();
  }

  private flush(): void {
    while (this.unsent.length > 0) {
      const sent = this.socket.write(this.unsent);
      if (sent <= 0) return;
      this.unsent = sent === this.unsent.length ? EMPTY : this.unsent.subarray(sent);
    }
  }

  private take(bytes: Buffer): void {
    if (this.left > 0) this.left -= bytes.length;
    else if (!this.takeHead(this.partial ? Buffer.concat([this.partial, bytes]) : bytes)) return;
    if (this.left > 0) return;
    this.requests++;
    if (performance.now() < this.until) this.ask();
    else this.done!.resolve({ requests: this.requests, unexpected: this.unexpected });
  }

  /** False if the header is incomplete; otherwise sets how much of the body is left. */
  private takeHead(bytes: Buffer): boolean {
    const end = bytes.indexOf(HEAD_END);
    this.partial = end < 0 ? Buffer.from(bytes) : undefined;
    if (end < 0) return false;
    const status = numberAt(bytes, STATUS_AT);
    if (status !== this.expectedStatus) this.unexpected++;
    const body = status === NOT_MODIFIED ? 0 : contentLength(bytes, end);
    if (body < 0) this.fail('an answer without Content-Length');
    this.left = end + HEAD_END.length + body - bytes.length;
    return true;
  }

  private fail(reason: string): void {
    this.failure ??= new Error(reason);
    this.done?.reject(this.failure);
  }
}

/** -1 if the header has none. */
function contentLength(bytes: Buffer, headEnd: number): number {
  for (const name of LENGTH_NAMES) {
    const at = bytes.indexOf(name);
    if (at >= 0 && at < headEnd) return numberAt(bytes, at + name.length);
  }
  return -1;
}

function numberAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let i = start; bytes[i]! >= ZERO && bytes[i]! <= ZERO + 9; i++) value = value * 10 + bytes[i]! - ZERO;
  return value;
}

const EMPTY = new Uint8Array();
const HEAD_END = Buffer.from('\r\n\r\n');
/** As Bun writes it, and as Fastify does. */
const LENGTH_NAMES = [Buffer.from('\r\nContent-Length: '), Buffer.from('\r\ncontent-length: ')];
const STATUS_AT = 'HTTP/1.1 '.length;
const NOT_MODIFIED = 304;
const ZERO = 0x30;
