import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { RemoteConnection, type RemoteSettings } from './remote-connection.ts';

/** A server that forgets a session as soon as it is begun is not asked for another because of its stream alone. */
const LASTING_MS = 1_000;
/** To say that the session is over. */
const PARTING_MS = 2_000;
/** Resources that are followed again: the server lets a session follow no more. */
const FOLLOWED_MAX = 1_000;

/** The client's session with a running server, begun anew as the client once began it where the server has forgotten it. */
export interface RemoteSession {
  /** Rejects where no answer will come; what a renewal has cut off is sent again first. */
  readonly send: StreamableHTTPClientTransport['send'];
  /** Tells the server that the session is over. */
  close(): Promise<void>;
}

export interface RemoteListener {
  heard(message: JSONRPCMessage): void;
  /** The session is another: what the old one has taken and not answered by now, it will not answer. */
  renewed(): void;
}

export function createRemoteSession(settings: RemoteSettings, { heard, renewed }: RemoteListener): RemoteSession {
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
      heard(message);
    });
    // A client that asks nothing is found forgotten here alone: its stream does not come back.
    connection.onerror = (error) => {
      if (connection !== far || !far.isForgotten(error) || performance.now() - begunAtMs < LASTING_MS) return;
      void renew().catch(() => {});
    };
    return connection;
  }

  /** One renewal is everybody's. */
  function renew(): Promise<void> {
    renewing ??= begin().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function begin(): Promise<void> {
    if (isOver) throw new Error('The client is gone');
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
    renewed();
    if (registry !== known) heard({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
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

/** Sets the revision that was agreed on; gives the version of the registry. */
function agree(connection: RemoteConnection, result: Record<string, unknown>): string | undefined {
  if (typeof result.protocolVersion === 'string') connection.setProtocolVersion(result.protocolVersion);
  const { capabilities } = result as { capabilities?: { experimental?: Record<string, { version?: string }> } };
  return capabilities?.experimental?.['zomma/registry']?.version;
}
