import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/client';
import type { RemoteSettings } from './remote-connection.ts';
import { createRemoteSession } from './remote-session.ts';
import { CUT_OFF, type RpcError, rpcErrorOf } from './rpc-error.ts';
import { standardStreams } from './standard-streams.ts';

/**
 * Forwards messages between this process's standard streams and a running server, until the client closes its end. If the server forgets
 * the session, e.g. in a restart, the bridge opens a new one without the client noticing. If the new server has different tools, the bridge
 * notifies the client.
 */
export async function bridge(settings: RemoteSettings, near = standardStreams()): Promise<void> {
  /** Requests without an answer yet, by id. */
  const open = new Map<RequestId, Asked>();
  // Errors are ignored: if the client has disconnected, the end of its streams ends the bridge.
  const tell = (message: JSONRPCMessage): void => void near.send(message).catch(() => {});
  const refuse = (id: RequestId, error: RpcError): void => {
    if (open.delete(id)) tell({ jsonrpc: '2.0', id, error });
  };

  const remote = createRemoteSession(settings, {
    onMessage(message) {
      if (!('method' in message) && message.id !== undefined) open.delete(message.id);
      tell(message);
    },
    onRenewed() {
      for (const [id, { isTaken }] of open) if (isTaken) refuse(id, CUT_OFF);
    },
  });

  const ask = async (message: JSONRPCMessage & { id: RequestId }): Promise<void> => {
    const { id } = message;
    const asked: Asked = { abort: new AbortController(), isTaken: false };
    open.set(id, asked);
    try {
      await remote.send(message, {
        requestSignal: asked.abort.signal,
        onRequestStreamEnd: () => refuse(id, CUT_OFF),
      });
      asked.isTaken = true;
    } catch (error) {
      refuse(id, rpcErrorOf(error, settings.url));
    }
  };

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    const cancelled = cancelledBy(message);
    const asked = cancelled === undefined ? undefined : open.get(cancelled);
    if (asked) open.delete(cancelled!);
    await remote.send(message).catch(() => {});
    // In revisions without sessions, closing the stream of a call cancels the call.
    asked?.abort.abort();
  };

  /** Resolves when the server has accepted or rejected `initialize`. Later messages wait for it: a client on a pipe sends all at once. */
  let begun = Promise.resolve();
  near.onmessage = (message) => {
    if (!isJSONRPCRequest(message)) void begun.then(() => pass(message));
    else if (message.method === 'initialize') begun = ask(message);
    else void begun.then(() => ask(message));
  };
  await near.start();
  await near.closed;
  await remote.close();
}

interface Asked {
  readonly abort: AbortController;
  /** Whether the server has accepted the request. Its answer then comes on a stream. */
  isTaken: boolean;
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
}
