import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy between clients and the server at a constant address. It can cut connections, and records the clients' requests. */
export interface Wire {
  readonly url: string;
  /** The target of new connections. */
  leadTo(url: string): void;
  /** Resets every open connection. */
  cut(): void;
  /** Returns the requests recorded since the previous call. */
  takeExchange(): Exchange;
  close(): void;
}

export interface Exchange {
  /** Methods with their paths. */
  readonly requests: readonly string[];
  /** Headers that contain the key. */
  readonly keys: readonly string[];
  /** Protocol versions, of `initialize` and of the header. */
  readonly versions: readonly string[];
}

const LOOPBACK = '127.0.0.1';

export async function openWire(): Promise<Wire> {
  const open = new Set<Socket>();
  let port = 0;
  let text = '';
  const server = createServer((client) => {
    const upstream = connect(port, LOOPBACK);
    open.add(client);
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    client.pipe(upstream).pipe(client);
    client.on('close', () => open.delete(client));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((listening) => server.listen(0, LOOPBACK, listening));
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    leadTo(url) {
      port = Number(new URL(url).port);
    },
    cut() {
      for (const socket of open) socket.resetAndDestroy();
    },
    takeExchange() {
      const exchange = {
        // OAuth metadata has many possible paths. A request may follow the body of the previous one without a line end.
        requests: all(text, /((?:GET|POST|DELETE) \/(?:\S*(?=\.well-known)\.well-known|[^ ?]*))\S* HTTP\/1\.1\r$/gm),
        keys: all(text, /^(X-API-Key|Authorization):/gim).map((name) => name.toLowerCase()),
        versions: all(text, /(?:^MCP-Protocol-Version: *|"protocolVersion": *")([0-9-]+)/gim),
      };
      text = '';
      return { ...exchange, keys: [...new Set(exchange.keys)] };
    },
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** The distinct matches of a pattern's group, in order of appearance. */
function all(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group]) => group!))];
}
