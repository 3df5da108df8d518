import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { RemoteConnection, type RemoteSettings } from './remote-connection.ts';

/** Minimum age of a session that a failed stream can renew. It prevents a loop with a server that forgets each session at once. */
const LASTING_MS = 1_000;
/** Timeout for telling the server that the session has ended. */
const PARTING_MS = 2_000;
/** Limit of the subscriptions that are restored in a new session. It is the server's own limit for a session. */
const FOLLOWED_MAX = 1_000;

/** The client's session with a running server. If the server forgets the session, a new one repeats the client's `initialize` request. */
export interface RemoteSession {
  /** Sends a message. If the server has forgotten the session, sends it again in the new session. Rejects if the message cannot be sent. */
  readonly send: StreamableHTTPClientTransport['send'];
  /** Tells the server that the session has ended, and closes the connection. */
  close(): Promise<void>;
}

export interface RemoteListener {
  onMessage(message: JSONRPCMessage): void;
  /** A new session has replaced the old one. Requests that the old session accepted and has not answered will get no answer. */
  onRenewed(): void;
}

export function createRemoteSession(settings: RemoteSettings, { onMessage, onRenewed }: RemoteListener): RemoteSession {
  const followed = new Set<string>();
  let opening: JSONRPCRequest | undefined;
  let registry: string | undefined;
  let renewing: Promise<void> | undefined;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let isOver = false;
  let far = connect();

  function connect(): RemoteConnection {
    const connection = new RemoteConnection(settings, (message) => {
      if ('result' in message && message.id === opening?.id) registry = agree(far, message.result);
      onMessage(message);
    });
    // If the client sends nothing, only this failed reconnect of its stream shows that the server has forgotten the session.
    connection.onerror = (error) => {
      if (connection !== far || !far.isForgotten(error) || performance.now() - begunAtMs < LASTING_MS) return;
      void renew().catch(() => {});
    };
    return connection;
  }

  /** Renews the session. Calls during a renewal share it. */
  function renew(): Promise<void> {
    renewing ??= begin().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function begin(): Promise<void> {
    if (isOver) throw new Error('The client has disconnected');
    const [old, fresh, known] = [far, connect(), registry];
    try {
      registry = agree(fresh, await fresh.ask('initialize', opening!.params));
      await fresh.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    } catch (error) {
      void fresh.close();
      throw error;
    }
    far = fresh;
    begunAtMs = performance.now();
    void old.close();
    onRenewed();
    if (registry !== known) onMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    void followAgain(fresh);
  }

  async function followAgain(fresh: RemoteConnection): Promise<void> {
    for (const uri of followed) {
      if (fresh === far && !isOver) await fresh.ask('resources/subscribe', { uri }).catch(() => {});
    }
  }

  function remember(request: JSONRPCRequest): void {
    const uri = String(request.params?.uri);
    if (request.method === 'resources/subscribe' && followed.size < FOLLOWED_MAX) followed.add(uri);
    if (request.method === 'resources/unsubscribe') followed.delete(uri);
    if (request.method !== 'initialize') return;
    opening = request;
    followed.clear();
  }

  return {
    async send(message, options) {
      if (isJSONRPCRequest(message)) remember(message);
      const used = far;
      try {
        await used.send(message, options);
      } catch (error) {
        if (used === far) {
          if (!used.isForgotten(error)) throw error;
          await renew();
        }
        await far.send(message, options);
      }
    },
    async close() {
      isOver = true;
      await renewing?.catch(() => {});
      const deadline = setTimeout(() => void far.close(), PARTING_MS);
      await far.terminateSession().catch(() => {});
      clearTimeout(deadline);
      await far.close();
    },
  };
}

/** Sets the negotiated protocol version. Returns the version of the server's registry, or `undefined` if the server sends none. */
function agree(connection: RemoteConnection, result: Record<string, unknown>): string | undefined {
  if (typeof result.protocolVersion === 'string') connection.setProtocolVersion(result.protocolVersion);
  const { capabilities } = result as { capabilities?: { experimental?: Record<string, { version?: string }> } };
  return capabilities?.experimental?.['zomma/registry']?.version;
}
