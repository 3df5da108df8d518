import type { McpOverHttp } from './transports.ts';

/** MCP over HTTP, loaded for its first client: engine and validators are a fifth of the memory of a service that has none. */
export interface McpOnDemand {
  /** Loads it, once. */
  load(): Promise<McpOverHttp>;
  /** Undefined before the first client. */
  readonly loaded: McpOverHttp | undefined;
  wake(): void;
  close(): Promise<void>;
}

export function createMcpOnDemand(loadTransports: () => Promise<McpOverHttp>): McpOnDemand {
  let loading: Promise<McpOverHttp> | undefined;
  let loaded: McpOverHttp | undefined;
  let isClosed = false;
  return {
    load() {
      loading ??= loadTransports().then(async (made) => {
        loaded = made;
        if (isClosed) await made.close();
        return made;
      });
      return loading;
    },
    get loaded() {
      return loaded;
    },
    // Whoever comes later reads what is so then.
    wake: () => loaded?.wake(),
    async close() {
      isClosed = true;
      await loaded?.close();
    },
  };
}
