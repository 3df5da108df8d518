import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observation } from '../../src/core/events.ts';
import { ingestOnce } from '../../src/feeds/ingest.ts';
import { listen } from '../../src/http/listen.ts';
import type { Catalog } from '../../src/mcp/mcp-deps.ts';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { type App, buildApp } from '../../src/server/app.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { parseSettings } from './parse-settings.ts';
import { SMALL_UNIVERSE } from './process.ts';
import { recordLevels } from './record-levels.ts';

/** A whole service in this process, on the simulated market, with one member. Tests call it without a socket. */
export interface Service extends AsyncDisposable {
  readonly app: App & { readonly store: Store };
  readonly dataDir: string;
  readonly uuid: string;
  readonly key: string;
  readonly observations: Observation[];
  /** Takes in what the feed has now. */
  load(): Promise<void>;
  /** Sends a request with the member's key, unless `headers` says otherwise. `null` removes a header. */
  request(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** Reopens the service, as after a restart and optionally with other tools: another process with the same data folder. */
  reopen(tools?: readonly Operation[]): Promise<void>;
  close(): Promise<void>;
}

export interface RequestOptions {
  readonly body?: unknown;
  /** Sent unchanged, instead of `body` as JSON. */
  readonly raw?: string | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string | null>>;
}

export interface ServiceSettings {
  readonly feed?: string;
  readonly rateLimit?: string;
  /** The path of a universe. */
  readonly universe?: string;
  readonly allowedOrigins?: string;
  readonly tools?: string;
  /** Any file: the service behaves as if it served HTTPS. */
  readonly tlsCert?: string;
  /** What agents are offered, in place of the service's own tools and resources. */
  readonly offered?: Partial<Catalog>;
  /** Simulates the standard universe instead of the eight tickers of `SMALL_UNIVERSE`, which load seven times as fast. */
  readonly hasAllTickers?: boolean;
  /** Starts without the data of the feed. `load` brings it. */
  readonly isEmpty?: boolean;
}

export const MEMBER_UUID = '0b9f5a3c-6d1e-4c7a-8f2b-1a2b3c4d5e6f';

export async function startService(settings: ServiceSettings = {}): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'zomma-service-'));
  const observations: Observation[] = [];
  const observe = (each: Observation) => observations.push(each);
  const { offered: given, isEmpty, hasAllTickers, ...texts } = settings;
  const read = parseSettings({
    dataDir,
    rateLimit: 'off',
    // Requests that do not come over a socket have no address.
    myKey: 'any',
    ...(!hasAllTickers && { universe: SMALL_UNIVERSE }),
    ...texts,
  });
  /** The store of one server is a file, so tests may also write to it without the ledger. */
  const build = async (offered = given) => {
    const app = await buildApp(read, observe, offered);
    return { ...app, store: app.store as Store };
  };
  let app = await build();
  const load = async () => {
    for (const feed of app.feeds) await ingestOnce({ feed, store: app.store, observe, nowMs: Date.now });
  };
  if (!isEmpty) await load();
  const { apiKey } = await app.access.addMember({ uuid: MEMBER_UUID });
  const close = async () => {
    app.gexStreams.close();
    await app.mcp.close();
    app.store.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    get app() {
      return app;
    },
    dataDir,
    uuid: MEMBER_UUID,
    key: apiKey,
    observations,
    load,
    async request(method, path, { body, raw, headers = {} } = {}) {
      const sent = new Headers({ 'X-API-Key': apiKey });
      if (body !== undefined || raw !== undefined) sent.set('Content-Type', 'application/json');
      for (const [name, value] of Object.entries(headers)) {
        if (value === null) sent.delete(name);
        else sent.set(name, value);
      }
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      return app.handle(
        new Request(`http://localhost${path}`, {
          method,
          headers: sent,
          ...(payload !== undefined && { body: payload }),
        }),
      );
    },
    async reopen(tools) {
      await app.mcp.close();
      app.store.close();
      app = await build(tools && { tools: () => tools });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export const computeLevels = ({ app }: Service): Promise<void> => recordLevels(app.store);

/** The same service, listening on a socket. */
export interface Served extends AsyncDisposable {
  readonly service: Service;
  readonly url: string;
  close(): Promise<void>;
}

export async function startServed(settings: ServiceSettings = {}): Promise<Served> {
  const service = await startService(settings);
  const server = listen(service.app.handle, { host: '127.0.0.1', port: 0, tls: undefined });
  const close = async () => {
    await service.app.mcp.close();
    await server.stop(1_000);
    await service.close();
  };
  return { service, url: server.url, close, [Symbol.asyncDispose]: close };
}
