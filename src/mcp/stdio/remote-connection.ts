import {
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  type RequestId,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { mcpAddress } from '../../core/mcp-address.ts';
import { SUBSCRIPTIONS_MAX } from '../mcp-deps.ts';

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

  /** Sends a request of the bridge. Rejects with `ProtocolError` for an error, or no answer, and with the error of `send`. */
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

/** The least age, ms, of a session that a failed stream renews, against an endless loop with a server that forgets at once. */
const RENEW_AFTER_MS = 1_000;
/** Timeout of the request that ends the session on the server, ms. */
const TERMINATE_TIMEOUT_MS = 2_000;

interface RemoteListener {
  onMessage(message: JSONRPCMessage): void;
  /** Called after a new session has replaced an old session. Unanswered requests of the old session will get no answer. */
  onRenewed(): void;
}

/**
 * Creates the client's session with a running server. If the server forgets the session, opens a new session with the same `initialize`.
 */
export function createRemoteSession(settings: RemoteSettings, { onMessage, onRenewed }: RemoteListener) {
  const subscribed = new Set<string>();
  let initializeRequest: JSONRPCRequest | undefined;
  let registry: string | undefined;
  let renewing: Promise<void> | undefined;
  let openedAtMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let current = connect();

  function connect(): RemoteConnection {
    const connection = new RemoteConnection(settings, (message) => {
      if ('result' in message && message.id === initializeRequest?.id)
        registry = applyInitializeResult(current, message.result);
      onMessage(message);
    });
    // While the client sends nothing, only a failed reconnection of the notification stream shows that the session is forgotten.
    connection.onerror = (error) => {
      if (connection !== current || !current.isSessionUnknown(error) || performance.now() - openedAtMs < RENEW_AFTER_MS)
        return;
      void renew().catch(() => {});
    };
    return connection;
  }

  /** Renews the session. A call during a renewal returns the promise of the current renewal. */
  function renew(): Promise<void> {
    renewing ??= replaceSession().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function replaceSession(): Promise<void> {
    if (isClosed) throw new Error('The client has disconnected');
    const [old, fresh, known] = [current, connect(), registry];
    try {
      registry = applyInitializeResult(fresh, await fresh.sendRequest('initialize', initializeRequest!.params));
      await fresh.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    } catch (error) {
      void fresh.close();
      throw error;
    }
    current = fresh;
    openedAtMs = performance.now();
    void old.close();
    onRenewed();
    if (registry !== known) onMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    void resubscribe(fresh);
  }

  async function resubscribe(fresh: RemoteConnection): Promise<void> {
    for (const uri of subscribed) {
      if (fresh === current && !isClosed) await fresh.sendRequest('resources/subscribe', { uri }).catch(() => {});
    }
  }

  function trackRequest(request: JSONRPCRequest): void {
    const uri = String(request.params?.uri);
    if (request.method === 'resources/subscribe' && subscribed.size < SUBSCRIPTIONS_MAX) subscribed.add(uri);
    if (request.method === 'resources/unsubscribe') subscribed.delete(uri);
    if (request.method !== 'initialize') return;
    initializeRequest = request;
    subscribed.clear();
  }

  return {
    /** Sends a message. If the server has forgotten the session, sends the message in a new one. Rejects if the message cannot be sent. */
    async send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>) {
      if (isJSONRPCRequest(message)) trackRequest(message);
      const used = current;
      try {
        await used.send(message, options);
      } catch (error) {
        if (used === current) {
          if (!used.isSessionUnknown(error)) throw error;
          await renew();
        }
        await current.send(message, options);
      }
    },
    /** Ends the session on the server, and closes the connection. */
    async close() {
      isClosed = true;
      await renewing?.catch(() => {});
      const deadline = setTimeout(() => void current.close(), TERMINATE_TIMEOUT_MS);
      await current.terminateSession().catch(() => {});
      clearTimeout(deadline);
      await current.close();
    },
  };
}

/** Sets the negotiated protocol version. Returns the version of the server's registry, or `undefined` if the server sends no version. */
function applyInitializeResult(connection: RemoteConnection, result: Record<string, unknown>): string | undefined {
  if (typeof result.protocolVersion === 'string') connection.setProtocolVersion(result.protocolVersion);
  const { capabilities } = result as { capabilities?: { experimental?: Record<string, { version?: string }> } };
  return capabilities?.experimental?.['zomma/registry']?.version;
}
