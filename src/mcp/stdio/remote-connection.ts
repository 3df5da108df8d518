import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { mcpAddress } from '../../core/mcp-address.ts';

/** The error that a client gets in place of an answer. */
export type RpcError = JSONRPCErrorResponse['error'];

/** JSON-RPC reserves the codes from -32099 to -32000 for servers. */
const UNANSWERED = -32_000;

export const CUT_OFF: RpcError = {
  code: UNANSWERED,
  message: 'The connection ended before the answer came. Send the request again.',
};

const TIMED_OUT: RpcError = { code: UNANSWERED, message: 'The server does not answer. Send the request again.' };

/** While the client is connected, the notification stream from the server reconnects after each failure. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 1_000_000,
};
/** Timeout of the bridge's own requests, ms. */
const ANSWER_MS = 10_000;

export interface RemoteSettings {
  /** URL of the server, e.g. `https://zomma.example.com`, or `https://example.com/zomma` if the server is behind a path. */
  readonly url: URL;
  readonly key: string;
}

/** A connection to a running server, for the client's messages and for requests of the bridge itself, which the client does not see. */
export class RemoteConnection extends StreamableHTTPClientTransport {
  private readonly pending = new Map<RequestId, PromiseWithResolvers<Result>>();
  private requestCount = 0;

  constructor({ url, key }: RemoteSettings, onMessage: (message: JSONRPCMessage) => void) {
    super(mcpAddress(url), { requestInit: { headers: { 'X-API-Key': key } }, reconnectionOptions: RECONNECTION });
    this.onmessage = (message) => {
      if (!this.resolvePending(message)) onMessage(message);
    };
    void this.start();
  }

  /** Sends a request of the bridge. Rejects with `ProtocolError` for an error, a late or cut-off answer, else with the error of `send`. */
  async sendRequest(method: string, params: Record<string, unknown> = {}): Promise<Result> {
    const id = `zomma-bridge:${++this.requestCount}`;
    const answer = Promise.withResolvers<Result>();
    const deadline = setTimeout(() => answer.reject(errorOf(TIMED_OUT)), ANSWER_MS);
    const onRequestStreamEnd = () => answer.reject(errorOf(CUT_OFF));
    this.pending.set(id, answer);
    this.send({ jsonrpc: '2.0', id, method, params }, { onRequestStreamEnd }).catch(answer.reject);
    return answer.promise.finally(() => {
      clearTimeout(deadline);
      this.pending.delete(id);
    });
  }

  /** Returns whether an error means that the server does not know the session. */
  isSessionUnknown(error: unknown): boolean {
    return this.sessionId !== undefined && error instanceof SdkHttpError && error.status === 404;
  }

  private resolvePending(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false;
    const answer = this.pending.get(message.id);
    if ('result' in message) answer?.resolve(message.result);
    else answer?.reject(errorOf(message.error));
    return answer !== undefined;
  }
}

type Result = Record<string, unknown>;

function errorOf({ code, message, data }: RpcError): ProtocolError {
  return ProtocolError.fromError(code, message, data);
}

/** Returns the error of a failed request to the server at `url`. If the server has sent an error text, it becomes the message. */
export function rpcErrorOf(error: unknown, url: URL): RpcError {
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  return { code: UNANSWERED, message: reasonOf(error, url) };
}

function reasonOf(error: unknown, url: URL): string {
  if (error instanceof SdkHttpError)
    return problemOf(error.data.text) ?? `The server answered with HTTP status ${error.status}`;
  // The server sent an answer that is not an MCP message.
  if (error instanceof SdkError) return error.message;
  return `No server answers at ${url.origin}. Check that the server is running.`;
}

function problemOf(text: unknown): string | undefined {
  try {
    const { detail, hint } = JSON.parse(String(text));
    if (typeof detail !== 'string') return undefined;
    return typeof hint === 'string' ? `${detail}. ${hint}` : detail;
  } catch {
    return undefined;
  }
}
