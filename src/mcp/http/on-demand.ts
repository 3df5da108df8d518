import type { McpOverHttp } from './transports.ts';

/** MCP over HTTP. The modules of MCP take a fifth of the process's memory, so they are loaded when the first client connects. */
export function createMcpOnDemand(loadTransports: () => Promise<McpOverHttp>) {
  let loading: Promise<McpOverHttp> | undefined;
  let loaded: McpOverHttp | undefined;
  let isClosed = false;
  return {
    /** Loads the transports. All calls return the same promise. */
    load() {
      loading ??= loadTransports().then(async (made) => {
        loaded = made;
        if (isClosed) await made.close();
        return made;
      });
      return loading;
    },
    /** Undefined until the transports are loaded. */
    get loaded() {
      return loaded;
    },
    // Before the transports are loaded, there are no subscribers.
    wake: () => loaded?.wake(),
    async close() {
      isClosed = true;
      await loaded?.close();
    },
  };
}
