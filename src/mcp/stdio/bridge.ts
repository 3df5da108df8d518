import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { isJSONRPCNotification, isJSONRPCRequest } from '@modelcontextprotocol/client';
import { CUT_OFF, type Refusal, refusalOf } from './refusal.ts';
import type { RemoteSettings } from './remote-connection.ts';
import { createRemoteSession } from './remote-session.ts';
import { standardStreams } from './standard-streams.ts';

/**
 * Passes messages between this process's standard streams and a running server, until the client closes its end. A session that the server
 * has forgotten, in a restart say, is begun anew unseen; where its tools are others then, the client is told that they have changed.
 */
export async function bridge(settings: RemoteSettings, near = standardStreams()): Promise<void> {
  /** Requests that are not answered. */
  const open = new Map<RequestId, Asked>();
  // A client that is gone hears nothing: its streams end the bridge.
  const tell = (message: JSONRPCMessage): void => void near.send(message).catch(() => {});
  const refuse = (id: RequestId, error: Refusal): void => {
    if (open.delete(id)) tell({ jsonrpc: '2.0', id, error });
  };

  const remote = createRemoteSession(settings, {
    heard(message) {
      if (!('method' in message) && message.id !== undefined) open.delete(message.id);
      tell(message);
    },
    renewed() {
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
      refuse(id, refusalOf(error, settings.url));
    }
  };

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    const cancelled = cancelledBy(message);
    const asked = cancelled === undefined ? undefined : open.get(cancelled);
    if (asked) open.delete(cancelled!);
    await remote.send(message).catch(() => {});
    // Without a session a call is cancelled by closing its stream.
    asked?.abort.abort();
  };

  /** Whoever pipes questions in does not wait for the session to begin: they do. */
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
  /** The server has taken it: its answer comes on a stream. */
  isTaken: boolean;
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
}
