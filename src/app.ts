import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../package.json';
import { type Access, createAccess } from './access/access.ts';
import { createRateLimiter, parseRateLimit } from './access/rate-limit.ts';
import { loadSecret } from './access/secret.ts';
import { SETTINGS } from './config.ts';
import { OperatorError } from './errors.ts';
import type { Observe } from './events.ts';
import { createCboeFeed } from './feeds/cboe/cboe-feed.ts';
import { createFilesFeed } from './feeds/files/files-feed.ts';
import { createMassiveFeed } from './feeds/massive/massive-feed.ts';
import { createSimulatedFeed } from './feeds/simulated/simulated-feed.ts';
import { createTradierFeed } from './feeds/tradier/tradier-feed.ts';
import { createGexEvents } from './http/gex-events.ts';
import { createGexStreams, type GexStreams } from './http/gex-streams.ts';
import { createGuard } from './http/guard.ts';
import { openapiDocument } from './http/openapi.ts';
import { routesOf } from './http/routes.ts';
import { createHttp, type Handler } from './http/server.ts';
import type { Feed } from './market/feed.ts';
import { createMarket } from './market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from './market/universe.ts';
import { createSseSessions, type SseSessions } from './mcp/sse.ts';
import type { Context } from './operations/operation.ts';
import { openStore, type Store } from './store/sqlite.ts';

export interface DataSettings {
  readonly dataDir: string;
  readonly universe?: string | undefined;
  readonly largePrintMin: string;
  readonly contagionMin: string;
  readonly staleAfter: string;
}

export interface FeedSettings {
  readonly feed: string;
  readonly seed: string;
  readonly feedRate?: string | undefined;
  readonly cboeUrl?: string;
  readonly tradierUrl?: string;
  readonly massiveUrl?: string;
  readonly massiveSocketUrl?: string;
}

/** The service, built and not yet listening. */
export interface App {
  readonly handle: Handler;
  readonly feeds: readonly Feed[];
  readonly store: Store;
  readonly sessions: SseSessions;
  readonly gexStreams: GexStreams;
  readonly access: Access;
  readonly context: Context;
}

/** Puts the service together: the one place that names the concrete feed, store and stream. */
export function buildApp(
  settings: DataSettings & FeedSettings & { readonly rateLimit: string },
  observe: Observe,
): App {
  const universe = readUniverse(settings.universe);
  const feeds = createFeeds(settings, universe);
  const policy = parseRateLimit(settings.rateLimit);
  const store = openData(settings.dataDir);
  store.openFeeds(feeds);
  const access = openAccess(store, settings.dataDir);
  const context = createContext(settings, store, universe, feeds[0]!.simulated);
  const sessions = createSseSessions({ context, version, observe });
  const { market } = context;
  const events = createGexEvents(store, feeds[0]!.simulated);
  const gexStreams = createGexStreams({ events, market, access, observe });
  const openapi = openapiDocument(version);
  const handle = createHttp({
    guard: createGuard(access, policy && createRateLimiter(policy, Date.now)),
    routes: routesOf({ context, access, members: store, gexStreams, version: store.version, openapi: () => openapi }),
    streams: sessions,
    observe,
  });
  return { handle, feeds, store, sessions, gexStreams, access, context };
}

/** What operations need, over an open store: recorded data, or the simulated market's. */
export function createContext(settings: DataSettings, store: Store, universe: Universe, simulated: boolean): Context {
  return {
    market: createMarket(store, universe, simulated),
    universe,
    nowMs: Date.now,
    feedStates: () => store.feedStates(),
    staleAfterMs: minutes(settings.staleAfter, '--stale-after'),
    largePrintMinUsd: dollars(settings.largePrintMin, '--large-print-min'),
    contagionMinUsd: dollars(settings.contagionMin, '--contagion-min'),
  };
}

/** Several are named with commas between them. Throws `OperatorError` where they cannot be had, or not together. */
function createFeeds(settings: FeedSettings, universe: Universe): Feed[] {
  const feeds = settings.feed
    .split(BETWEEN_FEEDS)
    .map((feed) => createFeed({ ...settings, feed: feed.trim() }, universe));
  const twice = feeds.find(({ name }, at) => feeds.findIndex((each) => each.name === name) !== at);
  if (twice) throw new OperatorError(`there are two feeds ${twice.name}`, 'name each kind of feed once');
  if (feeds.length > 1 && feeds.some(({ simulated }) => simulated)) {
    throw new OperatorError('the simulated market stands alone', 'name it without other feeds, or leave it out');
  }
  return feeds;
}

/** A comma, unless it belongs to the name of a folder. */
const BETWEEN_FEEDS = /,(?=\s*[a-z]+(?::|\s*(?:,|$)))/;

/** Throws `OperatorError` where the text names no feed, or one whose credential is missing. */
function createFeed(settings: FeedSettings, universe: Universe): Feed {
  const { feed, seed, feedRate } = settings;
  if (feed === 'simulated') return createSimulatedFeed({ seed: wholeNumber(seed, '--seed'), universe });
  const asked = { tickers: [...universe.tickers], ratePerMinute: feedRate === undefined ? undefined : rate(feedRate) };
  const urlOf = (name: 'cboeUrl' | 'tradierUrl' | 'massiveUrl' | 'massiveSocketUrl') =>
    settings[name] ?? SETTINGS[name].default;
  if (feed === 'cboe') return createCboeFeed({ ...asked, baseUrl: urlOf('cboeUrl') });
  if (feed === 'tradier') {
    return createTradierFeed({ ...asked, baseUrl: urlOf('tradierUrl'), token: credential('tradierToken', feed) });
  }
  if (feed === 'massive') {
    const [baseUrl, socketUrl] = [urlOf('massiveUrl'), urlOf('massiveSocketUrl')];
    return createMassiveFeed({ ...asked, baseUrl, socketUrl, key: credential('massiveKey', feed) });
  }
  if (feed.startsWith('files:')) return createFilesFeed(existingFolder(feed.slice('files:'.length)));
  throw new OperatorError(
    `"${feed}" is not a feed`,
    'use simulated, files:DIR with the folder of your option chains, cboe, tradier or massive',
  );
}

/** From the environment alone: a command line is visible to all users of a machine. */
function credential(name: 'tradierToken' | 'massiveKey', feed: string): string {
  const { env } = SETTINGS[name];
  const value = process.env[env]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const fault = value === '' ? 'is not set' : 'is no credential: it has spaces or other marks in it';
  throw new OperatorError(`${env} ${fault}`, `the feed "${feed}" asks with it; set it in the service's environment`);
}

function rate(text: string): number {
  const value = wholeNumber(text, '--feed-rate');
  if (value > 0) return value;
  throw new OperatorError('--feed-rate is not a rate', 'use 1 or more requests per minute, e.g. --feed-rate 60');
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

/** A folder that is missing at the start is a slip of the pen; one that goes missing later is reported and polled on. */
function existingFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new OperatorError(`"${path}" is not a folder`, 'use files:DIR with the folder of your option chains');
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

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new OperatorError(`${flag} is not a whole number`, `use 0 to 999999999, e.g. ${flag} 1`);
}
