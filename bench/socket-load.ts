import type { Socket } from 'bun';

/** Returns the bytes of a connection's next request. The function may return the same buffer with new content. */
export type NextRequest = () => Uint8Array;

export interface LoadFigures {
  readonly requests: number;
  /** Time from the first request to the last answer, s. */
  readonly seconds: number;
  /** Number of answers that do not have the expected status. */
  readonly unexpected: number;
}

export interface SocketLoad {
  /**
   * Sends requests for `ms` milliseconds. Each connection sends its next request as soon as it has the answer to the last one. Resolves
   * when every connection has its last answer. Rejects with an error if the server closes a connection or an answer has no
   * length.
   */
  run(ms: number): Promise<LoadFigures>;
  close(): void;
}

/**
 * Opens an HTTP/1.1 load generator over raw sockets, with one keep-alive connection for each of `requests`. A connection has one request in
 * progress at a time. Requests are prepared bytes. The generator reads only the status and the length of an answer, and counts the bytes of
 * the body. An HTTP library would take more CPU time than the servers that are measured.
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
  /** Bytes of the request that the socket has not taken yet. */
  private unsent: Uint8Array = EMPTY;
  /** The received bytes of a header whose end has not arrived. */
  private partial: Buffer | undefined;
  /** Number of bytes of the body that have not arrived. Infinite while a chunked body arrives. */
  private left = 0;
  /** The last received bytes of a chunked body. */
  private tail: Buffer = EMPTY;
  private requests = 0;
  private unexpected = 0;
  /** No request is sent after this moment, on the clock of `performance.now()`. */
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
    if (this.left === Number.POSITIVE_INFINITY && this.hasLastChunk(bytes)) this.left = 0;
    if (this.left > 0) return;
    this.requests++;
    if (performance.now() < this.until) this.ask();
    else this.done!.resolve({ requests: this.requests, unexpected: this.unexpected });
  }

  /** Reads the header, and sets the number of bytes of the body that have not arrived. Returns `false` if the header is incomplete. */
  private takeHead(bytes: Buffer): boolean {
    const end = bytes.indexOf(HEAD_END);
    this.partial = end < 0 ? Buffer.from(bytes) : undefined;
    if (end < 0) return false;
    const status = numberAt(bytes, STATUS_OFFSET);
    if (status !== this.expectedStatus) this.unexpected++;
    const body = status === NOT_MODIFIED ? 0 : bodyLength(bytes, end);
    if (body < 0) this.fail('an answer has neither a Content-Length nor chunks');
    this.left = end + HEAD_END.length + body - bytes.length;
    return true;
  }

  /** Returns true if a chunked body ends with these bytes. No other answer follows them, because the next request is not sent yet. */
  private hasLastChunk(bytes: Buffer): boolean {
    this.tail = Buffer.concat([this.tail, bytes.subarray(-LAST_CHUNK.length)]).subarray(-LAST_CHUNK.length);
    return this.tail.equals(LAST_CHUNK);
  }

  private fail(reason: string): void {
    this.failure ??= new Error(reason);
    this.done?.reject(this.failure);
  }
}

/** Returns the length of the body that a header states: infinite for chunks, -1 if the header states none. */
function bodyLength(bytes: Buffer, headEnd: number): number {
  for (const name of LENGTH_NAMES) {
    const offset = bytes.indexOf(name);
    if (offset >= 0 && offset < headEnd) return numberAt(bytes, offset + name.length);
  }
  return bytes.subarray(0, headEnd).includes(CHUNKED) ? Number.POSITIVE_INFINITY : -1;
}

/** Returns the decimal number that begins at an offset. */
function numberAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let i = start; bytes[i]! >= ZERO && bytes[i]! <= ZERO + 9; i++) value = value * 10 + bytes[i]! - ZERO;
  return value;
}

const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
/** The name of the field as Bun writes it, and as Fastify writes it. */
const LENGTH_NAMES = [Buffer.from('\r\nContent-Length: '), Buffer.from('\r\ncontent-length: ')];
/** Zomma sends large answers as streams, which Bun writes in chunks. */
const CHUNKED = Buffer.from('Transfer-Encoding: chunked');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const STATUS_OFFSET = 'HTTP/1.1 '.length;
const NOT_MODIFIED = 304;
const ZERO = 0x30;
