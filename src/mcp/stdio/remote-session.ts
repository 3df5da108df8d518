import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { SUBSCRIPTIONS_MAX } from '../mcp-deps.ts';
import { RemoteConnection, type RemoteSettings } from './remote-connection.ts';

/** Minimum age of a session that a failed stream renews, ms. A server that forgets each session would cause an endless loop. */
const RENEW_AFTER_MS = 1_000;
/** Timeout of the request that ends the session on the server, ms. */
const TERMINATE_TIMEOUT_MS = 2_000;

export interface RemoteListener {
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
    // While the client sends nothing, only a failed reconnection of the notification stream shows that the server has forgotten the
    // session.
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
