import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../package.json';
import { type Access, createAccess } from './access/access.ts';
import { createRateLimiter, parseRateLimit } from './access/rate-limit.ts';
import { loadSecret } from './access/secret.ts';
import { createFeeds, type FeedSettings } from './create-feeds.ts';
import { OperatorError } from './errors.ts';
import type { Observe } from './events.ts';
import { createGexEvents } from './http/live/gex-events.ts';
import { createGexStreams, type GexStreams } from './http/live/gex-streams.ts';
import { openapiDocument } from './http/openapi.ts';
import { type OriginSettings, originPolicy } from './http/origins.ts';
import { createServerApp, type Handler, handlerOf } from './http/server.ts';
import type { Feed } from './market/feed.ts';
import { createMarket } from './market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from './market/universe.ts';
import { createMcpOverHttp, type McpOverHttp } from './mcp/http/transports.ts';
import type { Offered } from './mcp/parts.ts';
import { RESOURCES } from './mcp/resources.ts';
import type { Context } from './operations/operation.ts';
import { TOOLS } from './operations/registry.ts';
import { openStore, type Store } from './store/sqlite.ts';

export interface DataSettings {
  readonly dataDir: string;
  readonly universe?: string | undefined;
  readonly largePrintMin: string;
  readonly contagionMin: string;
  readonly staleAfter: string;
}

export interface AppSettings extends DataSettings, FeedSettings, OriginSettings {
  readonly rateLimit: string;
}

/** The service, built and not yet listening. */
export interface App {
  readonly handle: Handler;
  /** Every route that is served. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly feeds: readonly Feed[];
  readonly store: Store;
  readonly mcp: McpOverHttp;
  readonly gexStreams: GexStreams;
  readonly access: Access;
  readonly context: Context;
}

/** What MCP clients are offered, over whichever transport. */
export const OFFERED: Offered = { tools: () => TOOLS, resources: RESOURCES };

/** Puts the service together: the one place that names the concrete feed, store and stream. What is given to offer takes the place of its own. */
export function buildApp(settings: AppSettings, observe: Observe, offered: Partial<Offered> = {}): App {
  const universe = readUniverse(settings.universe);
  const feeds = createFeeds(settings, universe, () => store.marks('files'));
  const policy = parseRateLimit(settings.rateLimit);
  const store = openData(settings.dataDir);
  store.openFeeds(feeds);
  const access = openAccess(store, settings.dataDir);
  const context = createContext(settings, store, universe, feeds[0]!.simulated);
  store.sumPrintsFrom(context.largePrintMinUsd);
  const { market } = context;
  const { simulated } = feeds[0]!;
  const mcp = createMcpOverHttp({ context, version, observe, ...OFFERED, ...offered, log: store, simulated });
  const events = createGexEvents(store, simulated);
  const gexStreams = createGexStreams({ events, market, observe });
  const http = createServerApp({
    context,
    access,
    members: store,
    limiter: policy && createRateLimiter(policy, Date.now),
    gexStreams,
    mcp,
    origins: originPolicy(settings),
    storeVersion: store.version,
    openapi: () => openapiDocument(version),
    observe,
  });
  return { handle: handlerOf(http), routes: http.routes, feeds, store, mcp, gexStreams, access, context };
}

/** What operations need, over an open store: recorded data, or the simulated market's. */
export function createContext(settings: DataSettings, store: Store, universe: Universe, simulated: boolean): Context {
  return {
    market: createMarket(store, universe, simulated),
    universe,
    nowMs: Date.now,
    feedStates: () => store.feedStates(),
    gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
    staleAfterMs: minutes(settings.staleAfter, '--stale-after'),
    largePrintMinUsd: dollars(settings.largePrintMin, '--large-print-min'),
    contagionMinUsd: dollars(settings.contagionMin, '--contagion-min'),
  };
}

export function readUniverse(file: string | undefined): Universe {
  return file === undefined ? STANDARD_UNIVERSE : loadUniverse(readFileSync(file, 'utf8'));
}

/** Opens the database of a data folder, made where it is missing and closed to others than its owner. */
export function openData(dataDir: string): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return openStore(join(dataDir, 'zomma.sqlite'));
}

export function openAccess(store: Store, dataDir: string): Access {
  return createAccess({ members: store, secret: () => loadSecret(dataDir), now: Date.now });
}

function dollars(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new OperatorError(`${flag} is not an amount of dollars`, `use a number of 0 or more, e.g. ${flag} 100000`);
}

function minutes(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value * 60_000;
  throw new OperatorError(`${flag} is not a number of minutes`, `use a number above 0, e.g. ${flag} 30`);
}
