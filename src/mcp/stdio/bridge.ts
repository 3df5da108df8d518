import { SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server';
import { standardStreams } from './standard-streams.ts';

/** The stream from the server comes back as long as the client is there. */
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 1_000_000,
};
/** Of a request that has found no answer: JSON-RPC leaves this range to servers. */
const UNREACHED = -32_000;

export interface BridgeSettings {
  /** Of the server, e.g. `https://zomma.example.com`. */
  readonly url: URL;
  readonly key: string;
}

/**
 * Passes messages between this process's standard streams and a running server, until the client closes its end. A session that the server
 * has forgotten, in a restart say, is begun anew unseen; where its tools are others then, the client is told that they have changed.
 */
export async function bridge({ url, key }: BridgeSettings): Promise<void> {
  /** Requests that wait for their answer. */
  const pending = new Set<RequestId>();
  const { transport: near, closed } = standardStreams(() => pending.size > 0);
  let opening: JSONRPCRequest | undefined;
  let registry: string | undefined;
  let renewing: Promise<void> | undefined;
  let far = connect(passBack);

  function connect(onmessage: (message: JSONRPCMessage) => void): StreamableHTTPClientTransport {
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { 'X-API-Key': key } },
      reconnectionOptions: RECONNECTION,
    });
    transport.onmessage = onmessage;
    void transport.start();
    return transport;
  }

  function passBack(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) pending.delete(message.id);
    if (opening && 'result' in message && message.id === opening.id) registry = take(far, message.result);
    void near.send(message);
  }

  const refuse = (id: RequestId, reason: string): void => {
    if (!pending.delete(id)) return;
    void near.send({ jsonrpc: '2.0', id, error: { code: UNREACHED, message: reason } });
  };

  const send = (message: JSONRPCMessage): Promise<void> => {
    if (!isRequest(message)) return far.send(message);
    const onRequestStreamEnd = () => refuse(message.id, 'The connection ended before the answer came: ask again');
    return far.send(message, { onRequestStreamEnd });
  };

  /** Begins the session anew, as the client once began it. */
  const renew = async (): Promise<void> => {
    const answered = Promise.withResolvers<Record<string, unknown>>();
    const fresh = connect((message) => {
      if ('result' in message) answered.resolve(message.result);
      else if ('error' in message) answered.reject(new Error(message.error.message));
    });
    await fresh.send(opening!);
    const known = registry;
    registry = take(fresh, await answered.promise);
    fresh.onmessage = passBack;
    void far.close();
    far = fresh;
    await far.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (registry !== known) await near.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  };

  const pass = async (message: JSONRPCMessage): Promise<void> => {
    if (isRequest(message)) pending.add(message.id);
    if (isRequest(message) && message.method === 'initialize') opening = message;
    try {
      await send(message).catch(async (error) => {
        if (!opening || !(error instanceof SdkHttpError) || error.status !== 404) throw error;
        renewing ??= renew().finally(() => {
          renewing = undefined;
        });
        await renewing;
        await send(message);
      });
    } catch (error) {
      if (isRequest(message)) refuse(message.id, reasonOf(error, url));
    }
  };

  near.onmessage = (message) => void pass(message);
  await near.start();
  await closed;
  await far.terminateSession().catch(() => {});
  await far.close();
}

/** Sets the revision that was agreed on; gives the version of the registry. */
function take(transport: StreamableHTTPClientTransport, result: Record<string, unknown>): string | undefined {
  if (typeof result.protocolVersion === 'string') transport.setProtocolVersion(result.protocolVersion);
  const { capabilities } = result as { capabilities?: { experimental?: Record<string, { version?: string }> } };
  return capabilities?.experimental?.['zomma/registry']?.version;
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

function reasonOf(error: unknown, url: URL): string {
  if (!(error instanceof SdkHttpError)) return `No server answers at ${url.origin}: is it running?`;
  const problem = problemOf(error.data.text);
  return problem ? `${problem.detail}. ${problem.hint}` : `The server answered ${error.status}`;
}

/** The server's own words. */
function problemOf(text: unknown): { detail: string; hint: string } | undefined {
  try {
    const problem = JSON.parse(String(text));
    return typeof problem.detail === 'string' ? problem : undefined;
  } catch {
    return undefined;
  }
}
