import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** What was asked for gets so long to be answered once nothing more can be asked. */
const LAST_ANSWERS_MS = 10_000;

/**
 * MCP's transport over this process's standard input and output. Whoever pipes questions in closes the pipe with the last of them: its end
 * is held back until they are answered, within bounds.
 */
export function standardStreams(
  source: Readable = process.stdin,
  output: Writable = process.stdout,
  lastAnswersMs = LAST_ANSWERS_MS,
): StandardStreams {
  const input = new PassThrough({ flush: (end) => void streams.lastAnswers(lastAnswersMs).then(() => end()) });
  const streams = new StandardStreams(input, output);
  // An open pipe would keep the process for as long as its client does.
  void streams.closed.then(() => source.destroy());
  source.pipe(input);
  return streams;
}

export class StandardStreams extends StdioServerTransport {
  /** Requests that wait for their answer. */
  private readonly unanswered = new Set<RequestId>();
  private readonly ended = Promise.withResolvers<void>();
  private readonly answered = Promise.withResolvers<void>();
  private isLast = false;
  /** Once the client has closed its end or cannot be written to, or somebody has closed ours. */
  readonly closed = this.ended.promise;

  override start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => {
      this.asked(message);
      deliver?.(message);
    };
    const noticed = this.onerror;
    this.onerror = (error) => {
      noticed?.(error);
      this.tell(error);
    };
    return super.start();
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const sent = super.send(message);
    if (!('method' in message) && message.id !== undefined) this.settle(message.id);
    return sent;
  }

  override async close(): Promise<void> {
    await super.close();
    this.ended.resolve();
  }

  /** Once all is answered that was asked, or `withinMs` are over. */
  async lastAnswers(withinMs: number): Promise<void> {
    // What was read last is taken up in this turn.
    await new Promise(setImmediate);
    this.isLast = true;
    if (this.unanswered.size === 0) return;
    const deadline = setTimeout(() => void this.close(), withinMs);
    await Promise.race([this.answered.promise, this.closed]);
    clearTimeout(deadline);
  }

  /** Of what is JSON and no message, the client; of what ends the connection, whoever reads the log. A reader that is gone needs no telling. */
  private tell(error: Error): void {
    if (error.name === 'ZodError') void this.send(NO_MESSAGE).catch(() => {});
    else if (!('code' in error && error.code === 'EPIPE')) process.stderr.write(`zomma: ${error.message}\n`);
  }

  private asked(message: JSONRPCMessage): void {
    // What listens is never answered, but told.
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.unanswered.add(message.id);
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    this.settle(message.params?.requestId as RequestId);
  }

  private settle(id: RequestId): void {
    this.unanswered.delete(id);
    if (this.isLast && this.unanswered.size === 0) this.answered.resolve();
  }
}

/** Of a request whose id is not known, which the protocol's types leave out. */
const NO_MESSAGE = {
  jsonrpc: '2.0',
  id: null,
  error: { code: ProtocolErrorCode.InvalidRequest, message: 'Invalid Request: not a JSON-RPC 2.0 message' },
} as unknown as JSONRPCMessage;
