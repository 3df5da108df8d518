import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/client';
import { CUT_OFF, type RemoteSettings, type RpcError, rpcErrorOf } from './remote-connection.ts';
import { createRemoteSession } from './remote-session.ts';
import { standardStreams } from './standard-streams.ts';

/**
 * Forwards messages between standard streams and a server, until the client closes standard input. Renews a session that the server has
 * forgotten without notice to the client, but notifies it if the new server has different tools.
 */
export async function bridge(settings: RemoteSettings, client = standardStreams()): Promise<void> {
  /** The unanswered requests, by id. */
  const pending = new Map<RequestId, PendingRequest>();
  // The code ignores errors here, because the bridge ends anyway when the client's streams end.
  const sendToClient = (message: JSONRPCMessage): void => void client.send(message).catch(() => {});
  const failRequest = (id: RequestId, error: RpcError): void => {
    if (pending.delete(id)) sendToClient({ jsonrpc: '2.0', id, error });
  };

  const remote = createRemoteSession(settings, {
    onMessage(message) {
      if (!('method' in message) && message.id !== undefined) pending.delete(message.id);
      sendToClient(message);
    },
    onRenewed() {
      for (const [id, { isAccepted }] of pending) if (isAccepted) failRequest(id, CUT_OFF);
    },
  });

  const forwardRequest = async (message: JSONRPCMessage & { id: RequestId }): Promise<void> => {
    const { id } = message;
    const request: PendingRequest = { abort: new AbortController(), isAccepted: false };
    pending.set(id, request);
    try {
      await remote.send(message, {
        requestSignal: request.abort.signal,
        onRequestStreamEnd: () => failRequest(id, CUT_OFF),
      });
      request.isAccepted = true;
    } catch (error) {
      failRequest(id, rpcErrorOf(error, settings.url));
    }
  };

  const forwardMessage = async (message: JSONRPCMessage): Promise<void> => {
    const cancelled = cancelledBy(message);
    const request = cancelled === undefined ? undefined : pending.get(cancelled);
    if (request) pending.delete(cancelled!);
    await remote.send(message).catch(() => {});
    // In protocol revisions without sessions, a call is canceled when its stream is closed.
    request?.abort.abort();
  };

  /** Resolves when the server has accepted or rejected `initialize`. Later messages wait, because clients may send all messages at once. */
  let initialized = Promise.resolve();
  client.onmessage = (message) => {
    if (!isJSONRPCRequest(message)) void initialized.then(() => forwardMessage(message));
    else if (message.method === 'initialize') initialized = forwardRequest(message);
    else void initialized.then(() => forwardRequest(message));
  };
  await client.start();
  await client.closed;
  await remote.close();
}

interface PendingRequest {
  readonly abort: AbortController;
  /** True if the server has accepted the request and will send its answer on a stream. */
  isAccepted: boolean;
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
}
