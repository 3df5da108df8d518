import type { McpOverHttp } from './transports.ts';

/** MCP over HTTP that is loaded for its first client: engine and validators are a fifth of the memory of a service that has none. */
export interface McpOnDemand extends McpOverHttp {
  /** Loads it, once. Must have settled before a request reaches a transport. */
  load(): Promise<void>;
  /** Whether a request to this address needs it. */
  isFor(url: string): boolean;
}

export function createMcpOnDemand(loadTransports: () => Promise<McpOverHttp>): McpOnDemand {
  let loading: Promise<void> | undefined;
  let loaded: McpOverHttp | undefined;
  let isClosed = false;
  const transports = (): McpOverHttp => {
    if (loaded) return loaded;
    throw new Error('MCP was asked before it was loaded');
  };
  return {
    load() {
      loading ??= loadTransports().then(async (made) => {
        loaded = made;
        if (isClosed) await made.close();
      });
      return loading;
    },
    isFor: (url) => loaded === undefined && MCP_ADDRESS.test(url),
    sse: {
      open: (account) => transports().sse.open(account),
      session: (account, sessionId) => transports().sse.session(account, sessionId),
      get size() {
        return loaded?.sse.size ?? 0;
      },
    },
    streamable: {
      handle: (account, request, body) => transports().streamable.handle(account, request, body),
      close: async () => loaded?.streamable.close(),
      get sessions() {
        return loaded?.streamable.sessions ?? 0;
      },
    },
    // Whoever comes later reads what is so then.
    wake: () => loaded?.wake(),
    async close() {
      isClosed = true;
      await loaded?.close();
    },
  };
}

/** The paths of the transports, as the router reads them: nothing decoded. */
const MCP_ADDRESS = /^[^?#]*\/(?:sse|messages|mcp)(?:[?#]|$)/;
