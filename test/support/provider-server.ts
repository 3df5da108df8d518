import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerWebSocket } from 'bun';
import type { Chain } from '../../src/market/chain.ts';
import { canonicalTicker } from '../../src/market/option-symbol.ts';
import {
  cboeAnswer,
  csvText,
  massivePage,
  thetadataTable,
  tradierChain,
  tradierExpirations,
  tradierQuote,
} from './provider-answers.ts';
import { type Behaviour, behave } from './provider-faults.ts';

export interface ProviderServerOptions {
  /** Returns the current chain of a ticker, or that of a past day (`YYYY-MM-DD`), or `undefined` if it has none. */
  readonly chainOf: (ticker: string, day?: string) => Chain | undefined;
  /** The token and the key that the provider accepts. Without one, it accepts any. */
  readonly credential?: string;
  readonly port?: number;
}

/** Stands in for CBOE, Tradier, Massive and ThetaData's terminal on loopback, at one address, and for Massive's socket at another address. */
export interface ProviderServer {
  readonly url: string;
  readonly socketUrl: string;
  /** The requested paths so far, with their query. */
  readonly asked: string[];
  /** Decides what happens to a request, by its path and the number of requests before it. `undefined` sends the normal answer. */
  behaviour: (path: string, before: number) => Behaviour | undefined;
  /** What the socket answers to a valid key. */
  socketStatus: string;
  /** Sends these as one frame to every subscriber. Returns the number of subscribers. */
  trade(messages: readonly unknown[]): number;
  /** Sends any text in the same way. */
  frame(text: string): void;
  /** Closes every socket without a message. */
  drop(): void;
  /** The number of sockets opened so far, and the number of pings received. */
  dialled(): number;
  pings(): number;
  close(): Promise<void>;
}

export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const answer = answerOf(new URL(path, url), request, options, url);
    const behaviour = provider.behaviour(path, asked.length - 1);
    const encode = answer.isCsv ? csvText : (value: unknown) => JSON.stringify(value);
    if (behaviour) behave(behaviour, response, answer.json, encode);
    else {
      const type = { 'content-type': answer.isCsv ? 'text/csv' : 'application/json' };
      response.writeHead(answer.status, type).end(encode(answer.json));
    }
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sockets = startSockets(options.port ? options.port + 1 : 0, options.credential, () => provider.socketStatus);
  const provider: ProviderServer = {
    url,
    socketUrl: `ws://127.0.0.1:${sockets.port}/options`,
    asked,
    behaviour: () => undefined,
    socketStatus: 'auth_success',
    trade: (messages) => sockets.send(JSON.stringify(messages)),
    frame: (text) => void sockets.send(text),
    drop: sockets.drop,
    dialled: sockets.dialled,
    pings: sockets.pings,
    async close() {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), sockets.stop()]);
    },
  };
  return provider;
}

function answerOf(url: URL, request: IncomingMessage, { chainOf, credential }: ProviderServerOptions, base: string) {
  const json = (json: unknown, status = 200, isCsv = false) => ({ status, json, isCsv });
  const missing = json({ fault: 'not found' }, 404);
  const chain = (ticker: string | null | undefined) => chainOf(canonicalTicker(decodeURIComponent(ticker ?? '')));

  const cboe = /^\/api\/global\/delayed_quotes\/options\/([^/]+)\.json$/.exec(url.pathname);
  if (cboe) {
    const found = chain(cboe[1]);
    return found ? json(cboeAnswer(found)) : missing;
  }
  const terminal = /^\/v3\/((?:option|stock|index)\/(?:snapshot|history)\/\w+)$/.exec(url.pathname);
  if (terminal) {
    const table = thetadataTable(terminal[1]!, url.searchParams, chainOf);
    return table ? json(table, 200, true) : json('No data found for your request', 472, true);
  }
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (bearer === undefined || (credential !== undefined && bearer !== credential)) {
    return json({ status: 'ERROR', error: `unknown key ${bearer}` }, 401);
  }
  const massive = /^\/v3\/snapshot\/options\/([^/]+)$/.exec(url.pathname);
  if (massive) {
    const found = chain(massive[1]);
    const limit = Math.min(250, Number(url.searchParams.get('limit') ?? 10));
    const next = (from: number) => `${base}${url.pathname}?limit=${limit}&cursor=${from}`;
    return found ? json(massivePage(found, Number(url.searchParams.get('cursor') ?? 0), limit, next)) : missing;
  }
  const { pathname, searchParams } = url;
  const found = chain(searchParams.get('symbol') ?? searchParams.get('symbols'));
  if (pathname === '/v1/markets/quotes') return json(found ? tradierQuote(found) : { quotes: {} });
  if (pathname === '/v1/markets/options/expirations')
    return json(found ? tradierExpirations(found) : { expirations: null });
  if (pathname === '/v1/markets/options/chains') {
    return json(found ? tradierChain(found, searchParams.get('expiration') ?? '') : { options: null });
  }
  return missing;
}

interface Session {
  authenticated: boolean;
  subscribed: boolean;
}

/** Massive's socket: `auth`, `subscribe`, then frames. */
function startSockets(port: number, credential: string | undefined, statusOf: () => string) {
  const open = new Set<ServerWebSocket<Session>>();
  let dialled = 0;
  let pings = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch: (request, self) =>
      self.upgrade(request, { data: { authenticated: false, subscribed: false } })
        ? undefined
        : new Response('a WebSocket is served here', { status: 426 }),
    websocket: {
      data: {} as Session,
      open(socket) {
        dialled++;
        open.add(socket);
        tell(socket, 'connected', 'Connected Successfully');
      },
      close: (socket) => void open.delete(socket),
      ping() {
        pings++;
      },
      message(socket, text) {
        const { action, params } = JSON.parse(String(text));
        if (action === 'auth') {
          const known = credential === undefined || params === credential;
          socket.data.authenticated = known && statusOf() === 'auth_success';
          tell(socket, known ? statusOf() : 'auth_failed', known ? 'authenticated' : `unknown key ${params}`);
        } else if (action === 'subscribe' && socket.data.authenticated) {
          socket.data.subscribed = true;
          tell(socket, 'success', `subscribed to: ${params}`);
        }
      },
    },
  });
  return {
    port: server.port,
    dialled: () => dialled,
    pings: () => pings,
    send(text: string) {
      const subscribed = [...open].filter(({ data }) => data.subscribed);
      for (const socket of subscribed) socket.send(text);
      return subscribed.length;
    },
    drop() {
      for (const socket of open) socket.terminate();
    },
    stop: () => server.stop(true),
  };
}

function tell(socket: ServerWebSocket<Session>, status: string, message: string): void {
  socket.send(JSON.stringify([{ ev: 'status', status, message }]));
}

if (import.meta.main) await (await import('./provider-server-run.ts')).run(process.argv.slice(2));
