import { version } from '../../package.json';
import type { Account } from '../access/access.ts';
import { createByteBudget } from '../access/byte-budget.ts';
import { charge, createRateLimiter } from '../access/rate-limit.ts';
import { createSignInCodes } from '../access/sign-in-codes.ts';
import { OperatorError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { JournalStorage } from '../feeds/files/journal-storage.ts';
import { createClientAddresses } from '../http/client-address.ts';
import { createConnectionMonitor, descriptorPlan } from '../http/connections/connection-monitor.ts';
import { createDrain } from '../http/drain.ts';
import { createServerApp, handlerOf } from '../http/http-server.ts';
import { createGexEvents } from '../http/live/gex-events.ts';
import { createGexStreams } from '../http/live/gex-streams.ts';
import { createMyKeyPolicy } from '../http/my-key-policy.ts';
import { openapiDocument } from '../http/openapi.ts';
import { originPolicy } from '../http/origins.ts';
import { createRefusals } from '../http/refusals.ts';
import type { SnapshotListing } from '../market/store.ts';
import { createMcpOnDemand } from '../mcp/http/on-demand.ts';
import type { Catalog } from '../mcp/mcp-deps.ts';
import { createAnswerCache } from '../operations/engine/answer-cache.ts';
import { createLoading, marketWhileLoading } from '../operations/engine/loading.ts';
import { createScheduler } from '../operations/engine/scheduler.ts';
import type { Tracing } from '../ops/tracing.ts';
import type { ValuesIn } from '../settings/config.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { createFeeds } from './create-feeds.ts';
import { openHome } from './open-home.ts';
import { createContext, foreignSecretHint, openAccess, presentSecret, readUniverse } from './stored-data.ts';

export type AppSettings = ValuesIn<'data' | 'feeds' | 'server' | 'mcp'>;

/** The composed service. The service does not accept requests until `listen` is called with its `handle`. */
export type App = Awaited<ReturnType<typeof buildApp>>;

/** A server without --feed simulates a market. Where it leads, it would stop the feeds of the others. */
const mixed = () =>
  new OperatorError(
    'the database has market data of real feeds, and this server would add a simulated market',
    'Give it the same --feed as the other servers, or a database of its own.',
  );

/**
 * Composes the service: the store, the feeds, the streams and the HTTP application. `catalog` replaces tools or resources of MCP. `admit`
 * may throw `OperatorError` before anything is written to the store. With `tracing`, requests and their jobs are recorded as spans.
 */
export async function buildApp(
  settings: AppSettings,
  observe: Observe,
  catalog: Partial<Catalog> = {},
  admit: (store: SharedStore, simulated: boolean) => void = () => {},
  tracing?: Tracing,
) {
  const { basePath } = settings;
  const universe = readUniverse(settings.universe);
  const newFeeds = (journal?: JournalStorage) =>
    createFeeds(settings, universe, () => store.checkpoints('files'), journal);
  const feeds = newFeeds();
  const policy = settings.rateLimit === 'off' ? undefined : settings.rateLimit;
  const onDamaged = ({ underlying, asOf, source }: SnapshotListing) => {
    const as_of = new Date(asOf).toISOString();
    observe({ kind: 'snapshot_damaged', underlying, as_of, source });
    const reason = `the stored snapshot of ${as_of} is damaged and was set aside: check the disk, and ingest it again`;
    const rejection = { feed: feeds[0]!.name, origin: source, reason, ticker: underlying, at: Date.now() };
    void store.write((tx) => tx.rejected(rejection)).catch((error) => observe({ kind: 'ingest_failed', error }));
  };
  let onApplied = () => {};
  const home = await openHome(settings, observe, { onDamaged, onApplied: () => onApplied() });
  const { store, cluster } = home;
  const { simulated } = feeds[0]!;
  const { ledger: memberLedger, ...currency } = home.members;
  const access = openAccess(memberLedger, settings.dataDir, currency);
  try {
    admit(store, simulated);
    if (cluster && simulated && store.underlyings(false).length > 0) throw mixed();
    await access.openSecret();
    await cluster?.accept('secret', presentSecret(settings.dataDir));
    if (!access.isSecretOfMembers()) observe({ kind: 'secret_foreign', hint: foreignSecretHint(settings) });
  } catch (error) {
    await home.close();
    throw error;
  }
  const loading = createLoading();
  const stored = createContext(settings, store, universe, simulated);
  // In the standard universe, the first ticker is SPY.
  let tickerInView = [...universe.tickers][0]!;
  const context = {
    ...stored,
    market: marketWhileLoading(stored.market, loading),
    onTicker(ticker: string) {
      tickerInView = ticker;
    },
  };
  /** Prepares the store for the feeds of this server. In a cluster, the server that leads calls this function. */
  const openFeeds = (ledger: SharedStore) =>
    ledger.write((tx) => {
      tx.openFeeds(feeds);
      tx.sumPrintsFrom(context.largePrintMinUsd);
    });
  if (!cluster) await openFeeds(store);
  const { market } = context;
  const answers = createAnswerCache(context, store);
  // A clock that is set back would otherwise refill no bucket until the old time is reached again.
  const limiter = policy && createRateLimiter(policy, () => performance.now());
  const scheduler = tracing ? tracing.traced(createScheduler()) : createScheduler();
  /** Adds the trace of the request to a failed tool's report. */
  const observeTools: Observe = tracing
    ? (each) => observe(each.kind === 'tool_failed' ? { ...each, trace_id: tracing.current()?.traceId } : each)
    : observe;
  const { liveStreamsMax, mcpStreamsMax } = descriptorPlan();
  const connections = createConnectionMonitor({
    *streamPeers() {
      yield* gexStreams.peers();
      if (mcp.loaded) yield* mcp.loaded.peers();
    },
    behindProxy: settings.behindProxy,
    observe,
  });
  const { peerOf } = connections;
  const mcp = createMcpOnDemand(async () => {
    const [{ createMcpOverHttp }, { catalogOf }] = await Promise.all([
      import('../mcp/http/transports.ts'),
      import('../mcp/catalog.ts'),
    ]);
    // A model would take the tokens of the rate limit for tokens of its context.
    const message = 'This call needs more of the rate limit than is left';
    const chargeTokens =
      limiter && (({ id }: Account, tokens: number) => void charge(limiter, id, tokens, { message }));
    return createMcpOverHttp({
      context,
      answers,
      version,
      observe: observeTools,
      scheduler,
      charge: chargeTokens,
      ...catalogOf(settings.tools),
      ...catalog,
      log: store,
      simulated,
      peerOf,
      basePath,
      limits: { streamsMax: mcpStreamsMax },
    });
  });
  const events = createGexEvents(store, simulated, {
    nowMs: context.nowMs,
    sinceReadMs: () => cluster?.state().sinceFollowedMs ?? 0,
  });
  const gexStreams = createGexStreams({ scheduler, events, market, observe, limits: { streamsMax: liveStreamsMax } });
  onApplied = () => {
    gexStreams.wake();
    mcp.wake();
  };
  // A server with stored data answers requests at once. A server with an empty store lets requests wait for the initial load.
  const isEmpty = store.underlyings(simulated).length === 0;
  const drain = createDrain();
  /** Each returns why the server should get no requests now, or undefined. A full disk is no reason: all servers of a pair may have one. */
  const readiness: (() => string | undefined)[] = [
    () => (loading.isComplete ? undefined : 'The market data is being loaded.'),
    () => (drain.isDraining ? 'The server is stopping.' : undefined),
    () => cluster?.problem(),
    () => (currency.areMembersCurrent?.() === false ? 'The members have not been heard of for too long.' : undefined),
  ];
  const notReady = () => readiness.flatMap((reason) => reason() ?? []);
  const addresses = createClientAddresses({ peerOf, trustedProxies: settings.trustedProxies ?? [] });
  const signInCodes = createSignInCodes();
  const refusals = createRefusals(observe, () => performance.now());
  const http = createServerApp({
    ...{ drain, notReady },
    ...addresses,
    refusals,
    isHttps: settings.tlsCert !== undefined || settings.tls !== undefined,
    myKeyPolicy: createMyKeyPolicy(settings),
    signInCodes,
    context,
    access,
    members: store,
    limiter,
    scheduler,
    budget: createByteBudget(),
    gexStreams,
    connections,
    mcp,
    origins: originPolicy(settings),
    answers,
    loaded: () => (isEmpty && !loading.isComplete ? loading.waitUntilComplete(LOADING_WAIT_MS) : undefined),
    openapi: () => openapiDocument(version, basePath),
    basePath,
    tracing,
    observe,
  });
  return {
    handle: handlerOf(http, { tracing, basePath }),
    routes: http.routes,
    ...{ feeds, store, mcp, gexStreams, access, context, scheduler, connections, refusals, signInCodes },
    ...{ drain, readiness, notReady, openFeeds },
    /** The other servers that share the database of this one. Undefined if this server is alone. */
    cluster,
    createFeeds: newFeeds,
    closeStore: home.close,
    /** The initial load of the drop folder or the simulated market. The caller must start the feeds and call `loading.begin`. */
    loading,
    /** Returns the ticker of the last request, or the first ticker of the universe before any request. */
    tickerInView: () => tickerInView,
  };
}

/**
 * Maximum time that a request waits for the initial load of a local feed, ms, which takes less than a second for the simulated market and
 * may take minutes for a drop folder. A ticker without a chain then gets 503 with `Retry-After`.
 */
const LOADING_WAIT_MS = 5_000;
