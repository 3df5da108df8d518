import { PassThrough, type Readable, type Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** Maximum time for answers after the end of the input, ms. */
const LAST_ANSWERS_MS = 10_000;

/**
 * Returns the transport over standard input and output. After the end of the input, e.g. of a pipe, it stays open until all requests are
 * answered, but at most for `lastAnswersMs`.
 */
export function standardStreams(
  source: Readable = process.stdin,
  output: Writable = process.stdout,
  lastAnswersMs = LAST_ANSWERS_MS,
): StandardStreams {
  const input = new PassThrough({ flush: (end) => void streams.waitForAnswers(lastAnswersMs).then(() => end()) });
  const streams = new StandardStreams(input, output);
  // The code destroys the source, because an open pipe would keep this process running.
  void streams.closed.then(() => source.destroy());
  source.pipe(input);
  return streams;
}

export class StandardStreams extends StdioServerTransport {
  /** The ids of unanswered requests. */
  private readonly unanswered = new Set<RequestId>();
  private readonly closing = Promise.withResolvers<void>();
  private readonly answered = Promise.withResolvers<void>();
  private inputEnded = false;
  /** Resolves when the client has closed standard input, when writing to the client has failed, or after `close`. */
  readonly closed = this.closing.promise;

  override start(): Promise<void> {
    const deliver = this.onmessage;
    this.onmessage = (message) => {
      this.trackRequest(message);
      deliver?.(message);
    };
    const onError = this.onerror;
    this.onerror = (error) => {
      onError?.(error);
      this.reportError(error);
    };
    return super.start();
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const sent = super.send(message);
    if (!('method' in message) && message.id !== undefined) this.completeRequest(message.id);
    return sent;
  }

  override async close(): Promise<void> {
    await super.close();
    this.closing.resolve();
  }

  /** Resolves when all requests are answered or the transport is closed. Closes the transport if an answer is missing after `withinMs`. */
  async waitForAnswers(withinMs: number): Promise<void> {
    // The runtime delivers the last messages in the current turn of the event loop.
    await new Promise(setImmediate);
    this.inputEnded = true;
    if (this.unanswered.size === 0) return;
    const deadline = setTimeout(() => void this.close(), withinMs);
    await Promise.race([this.answered.promise, this.closed]);
    clearTimeout(deadline);
  }

  /** Reports an error: to the client for JSON that is not a message, else on standard error. EPIPE is the end of the client. */
  private reportError(error: Error): void {
    if (error.name === 'ZodError') void this.send(NOT_A_MESSAGE).catch(() => {});
    else if (!('code' in error && error.code === 'EPIPE')) process.stderr.write(`zomma: ${error.message}\n`);
  }

  private trackRequest(message: JSONRPCMessage): void {
    // A `subscriptions/listen` request gets notifications instead of an answer.
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.unanswered.add(message.id);
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    this.completeRequest(message.params?.requestId as RequestId);
  }

  private completeRequest(id: RequestId): void {
    this.unanswered.delete(id);
    if (this.inputEnded && this.unanswered.size === 0) this.answered.resolve();
  }
}

/** The error for a message with an unknown id. The id must be null, although the protocol's types do not allow null. */
const NOT_A_MESSAGE = {
  jsonrpc: '2.0',
  id: null,
  error: { code: ProtocolErrorCode.InvalidRequest, message: 'Invalid Request: not a JSON-RPC 2.0 message' },
} as unknown as JSONRPCMessage;
