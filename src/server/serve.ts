import { join } from 'node:path';
import { version } from '../../package.json';
import { COMMIT } from '../core/commit.ts';
import { blockedSteps, startWatchdog } from '../core/event-loop-watchdog.ts';
import type { Observation, Observe } from '../core/events.ts';
import { createLog } from '../core/log.ts';
import { isLoopback } from '../core/loopback.ts';
import { withinMs } from '../core/within-ms.ts';
import { createDiskSpace } from '../feeds/disk-space.ts';
import type { JournalStorage } from '../feeds/files/journal-storage.ts';
import { type CertificateWatch, watchCertificate } from '../http/certificate-watch.ts';
import { descriptorsMax, openDescriptors } from '../http/connections/own-sockets.ts';
import { authorityPath, ensureInternalTls, NEW_AUTHORITY_HINT } from '../http/internal-tls.ts';
import { listen, listenOptions } from '../http/listen.ts';
import { readTls, type TlsFiles } from '../http/tls.ts';
import { COMPILER_HINT, isWithoutCompiler, kernelNsPerOption } from '../math/kernel-speed.ts';
import { feedReport } from '../operations/feed-status.ts';
import { warmUp } from '../operations/warm-up.ts';
import type { Metrics } from '../ops/ops-metrics.ts';
import type { ServiceManager } from '../ops/service-manager.ts';
import type { Tracing } from '../ops/tracing.ts';
import type { ValuesIn } from '../settings/config.ts';
import { unknownVariables } from '../settings/setting-sources.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { type App, buildApp } from './app.ts';
import { lastBackupMs } from './backups.ts';
import { DAMAGED, type DatabaseWatch, watchDatabase } from './database-watch.ts';
import { type LeaderWork, startLeaderWork } from './leader-work.ts';
import { firstData, startLeading } from './leading.ts';
import { shareAuthority } from './share-authority.ts';
import { diskUse, lockData } from './stored-data.ts';

export type ServeSettings = ValuesIn<'data' | 'feeds' | 'server' | 'mcp' | 'log'>;

/** Maximum time for requests in progress after the service starts to stop, ms. The process ends within five seconds. */
const STOP_DEADLINE_MS = 3_000;
/**
 * Time between the signal and the exit, ms, even if work is in progress, such as a read from a file system that does not answer. The stored
 * data is always consistent. On a busy machine, the exit itself may take up to a second more.
 */
const FORCED_STOP_MS = 4_000;
/** Interval between two log lines during the load of data, ms. */
const LOADING_EVERY_MS = 5_000;
/** Interval between two checks whether the internal certificate must be renewed, ms. */
const RENEWAL_LOOK_MS = 3_600_000;
/** The time that the service requests from the service manager for opening and upgrading the data folder, ms. */
const OPENING_MS_MAX = 15 * 60_000;
/** Maximum time without a message to the service manager during the load of data, ms. After a longer time, the manager aborts the start. */
const LOADING_MS_MAX = 60_000;
/** Maximum time to send the last spans, ms. Spans that are not sent in time are lost. */
const TRACES_STOP_MS = 500;

/** The functions that `zomma start` adds to the service. */
export interface Demo {
  /** Throws `OperatorError` if the data folder is not a trial folder. `simulated` is true if the feeds are simulated. */
  admit(store: SharedStore, simulated: boolean): void;
  /** Prints a welcome to stdout before the line `listening on URL`. */
  welcome(app: App, url: string): Promise<void>;
}

/**
 * Runs the service until SIGTERM or SIGINT. Listens, prints the line `listening on URL`, and starts the feeds. After the load of local
 * data, starts four kinds of work: recording levels, removing old data, packing the tape, and filling the past of the simulated market.
 * Holds the lock of the data folder. `demo` contains the functions that `zomma start` adds.
 */
export async function serve(settings: ServeSettings, demo?: Demo): Promise<void> {
  const hanging = new Set<string>();
  await serveUntilStopped(settings, hanging, demo);
  // Two types of unfinished work would keep the process running: attempts to reach a collector, and a read from an unreachable network
  // mount.
  if (hanging.size > 0) process.exit();
}

/** Runs the service until it stops. Adds the parts of the service that did not end in time to `hanging`. */
async function serveUntilStopped(settings: ServeSettings, hanging: Set<string>, demo?: Demo): Promise<void> {
  // The resources are closed in reverse order, even after an error.
  await using resources = new AsyncDisposableStack();
  const startedAt = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  const log = createLog(settings.logLevel, settings);
  for (const { name, nearest } of unknownVariables(process.env))
    log({ kind: 'setting_unknown', variable: name, nearest });
  let metrics: Metrics | undefined;
  let database: DatabaseWatch | undefined;
  const counted = settings.ops ? withMetrics(log, () => metrics) : log;
  const observe: Observe = Object.assign(
    (observation: Observation) => {
      counted(observation);
      database?.note(observation);
    },
    counted.ignores ? { ignores: counted.ignores } : {},
  );
  let certificate: CertificateWatch | undefined;
  const reload = async () => {
    await renewInternalTls();
    certificate?.reload();
    const files = certificate ? Object.values(tlsFiles).filter((file) => file !== undefined) : [];
    observe({ kind: 'reloaded', files });
  };
  const renewInternalTls = async (): Promise<void> => {
    if (settings.tls !== 'internal' || !certificate) return;
    try {
      await cluster?.requireFile('authority', authorityPath(settings.dataDir));
      await ensureInternalTls(settings, Date.now());
    } catch (error) {
      const { message: reason, hint = 'Check the data folder.' } = error as Error & { hint?: string };
      observe({ kind: 'certificate_refused', reason, hint });
    }
  };
  const manager = await connectManager(observe);
  resources.defer(() => manager?.close());
  const onHangUp = () => (manager ? manager.reloading(reload) : reload());
  // Certificate clients send SIGHUP after a renewal. Without a handler, SIGHUP would end the process.
  process.on('SIGHUP', onHangUp);
  resources.defer(() => void process.off('SIGHUP', onHangUp));
  // An upgrade first copies the database, which takes about a minute for 20 GB.
  manager?.starting('Opening the data folder', OPENING_MS_MAX);
  const options = listenOptions(settings);
  const room = createDiskSpace({ ...settings, observe });
  const tracing = await connectTracing(observe);
  resources.defer(async () => {
    if (tracing && !(await withinMs(TRACES_STOP_MS, tracing.stop()))) hanging.add('traces');
  });
  resources.use(lockData(settings.dataDir));
  const app = await buildApp(settings, observe, {}, demo?.admit, tracing);
  const { store, loading, cluster } = app;
  resources.defer(() => app.closeStore());
  const { tlsCert, tlsKey, tlsClientCa } = settings;
  const isInternal = settings.tls === 'internal';
  const onForeign = (names: readonly string[]) =>
    observe({ kind: 'names_uncertified', names, hint: NEW_AUTHORITY_HINT });
  const makePair = () => ensureInternalTls(settings, Date.now(), onForeign);
  const pair = isInternal ? await shareAuthority(cluster, settings, makePair) : { cert: tlsCert!, key: tlsKey! };
  const tlsFiles: TlsFiles = { ...pair, clientCa: tlsClientCa };
  const listening = isInternal ? { ...options, tls: readTls(tlsFiles) } : options;
  resources.defer(() => app.refusals.stop());
  const damaged = cluster ? DAMAGED.mirror : DAMAGED.database;
  database = watchDatabase(join(settings.dataDir, cluster?.file ?? DATABASE), observe, damaged);
  app.readiness.unshift(database.problem);
  resources.adopt(database, (watch) => watch.stop());
  const stopped = Promise.withResolvers<NodeJS.Signals>();
  const forceExit = () => {
    observe({ kind: 'stop_forced' });
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stopped.resolve(signal);
      process.once(signal, forceExit);
    });
  }
  void stopped.promise.then(() => setTimeout(forceExit, FORCED_STOP_MS).unref());
  const onTick = settings.ops && { onTick: (ms: number) => metrics?.countDelay(ms) };
  resources.adopt(startWatchdog(observe, { slowStepMs: settings.slowStep, ...onTick }), (watchdog) => watchdog.stop());
  // The server watches the certificate file, so it loads a renewed certificate by itself.
  resources.adopt(setInterval(() => void renewInternalTls(), RENEWAL_LOOK_MS).unref(), clearInterval);

  // The stack `serving` is closed before the stack `resources`, so that no request uses a closed resource.
  await using serving = new AsyncDisposableStack();
  const server = listen(app.handle, listening, app.connections);
  serving.defer(async () => {
    loading.cancelWaits();
    // Streams must close before the server, because the server would wait for open streams without a limit.
    app.gexStreams.close();
    await Promise.all([app.mcp.close(), app.drain.begin()]);
    await server.stop(STOP_DEADLINE_MS);
  });
  if (listening.tls) {
    const watched = { files: tlsFiles, pair: listening.tls, listening: server };
    certificate = watchCertificate({ ...watched, observe, nowMs: Date.now });
    resources.adopt(certificate, (watch) => watch.stop());
  }
  const address = server.url + settings.basePath;
  await demo?.welcome(app, address);
  process.stdout.write(`listening on ${address}\n`);
  const { feed } = settings;
  observe({ kind: 'started', address, feed, version, commit: COMMIT, schema: SCHEMA, duration_ms: elapsedMs() });

  if (settings.ops) {
    const { createMetrics } = await import('../ops/ops-metrics.ts');
    const { OPEN_OPS_HINT, serveOps } = await import('../ops/ops-server.ts');
    const { notReady } = app;
    metrics = createMetrics({
      version,
      commit: COMMIT,
      schema: SCHEMA,
      feeds: () => feedReport(app.context),
      liveStreams: () => app.gexStreams.size,
      jobs: () => app.scheduler.size,
      blocked: blockedSteps,
      levelsDue: () => store.levelsDue().length,
      damagedSnapshots: () => store.damagedSnapshots().length,
      disk: () => diskUse(settings.dataDir, cluster?.file),
      descriptors: () => ({ open: openDescriptors(), max: descriptorsMax() }),
      hasDatabase: () => database?.isPresent() ?? true,
      isFull: () => room.fullReason() !== undefined,
      certificateNotAfterMs: () => certificate?.notAfterMs(),
      lastBackupMs: () => lastBackupMs(settings.dataDir),
      isReady: () => notReady().length === 0,
      cluster: () => cluster?.state(),
    });
    const { ops: at, allowedHosts } = settings;
    const ops = await serveOps({ ...at, allowedHosts }, { notReady, metrics: metrics.text });
    resources.defer(() => ops.stop());
    observe({ kind: 'operations_served', address: ops.url });
    if (!isLoopback(at.host)) observe({ kind: 'operations_open', address: ops.url, hint: OPEN_OPS_HINT });
  }
  const beginWork = (ledger: SharedStore, journal?: JournalStorage): LeaderWork =>
    startLeaderWork({ app, store: ledger, journal, settings, room, observe });
  const stopWork = async (work: LeaderWork): Promise<void> => {
    if (!(await work.stop())) hanging.add('feeds');
  };
  let loaded: Promise<unknown>;
  let recorded: Promise<unknown> | undefined;
  let fillPast = () => {};
  if (cluster) {
    const obstacle = () => database?.problem() ?? room.fullReason();
    const leadership = startLeading(cluster, app, { feed: settings.feed, obstacle, beginWork, stopWork });
    resources.defer(() => leadership.stop());
    loaded = firstData(app, stopped.promise);
  } else {
    const work = beginWork(store);
    resources.defer(() => stopWork(work));
    // The feeds stop while the server completes its requests.
    serving.defer(() => void work.stopFeeds());
    ({ loaded, recorded, fillPast } = work);
  }
  loading.begin(loaded);
  manager?.starting('Loading market data', LOADING_MS_MAX);
  const stillLoading = setInterval(() => observe({ kind: 'loading', duration_ms: elapsedMs() }), LOADING_EVERY_MS);
  const isLoaded = await Promise.race([loaded.then(() => true), stopped.promise.then(() => false)]);
  clearInterval(stillLoading);

  if (isLoaded) {
    observe({ kind: 'loaded', duration_ms: elapsedMs() });
    manager?.ready(`Serving ${address}`);
    await Promise.race([recorded, stopped.promise]);
    // `Bun.shrink` frees the memory that was needed only for the load: with the simulated market, a third of 115 MiB.
    Bun.shrink();
    // Without a warm-up, the first requests take longer. A database that is damaged by then ends no server.
    await warmUp(app.context, app.scheduler).catch((error: unknown) => observe({ kind: 'warm_up_failed', error }));
    const ns_per_option = Math.round(await kernelNsPerOption());
    if (isWithoutCompiler(ns_per_option)) observe({ kind: 'compiler_off', ns_per_option, hint: COMPILER_HINT });
    fillPast();
  }
  observe({ kind: 'stopping', signal: await stopped.promise });
  manager?.stopping();
}

/** Connects to systemd if systemd has started this process and expects messages. Without systemd, the module is not loaded. */
async function connectManager(observe: Observe): Promise<ServiceManager | undefined> {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = process.env;
  if (!NOTIFY_SOCKET) return undefined;
  const { connectServiceManager } = await import('../ops/service-manager.ts');
  return connectServiceManager({ NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID }, observe);
}

/** Starts tracing if the environment names a collector. Without a collector, the module is not loaded. */
async function connectTracing(observe: Observe): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED } = process.env;
  const hasCollector = OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!hasCollector || OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const { startTracing } = await import('../ops/tracing.ts');
  return startTracing(process.env, version, observe);
}

/** Returns an observer that passes observations to the log, and to the metrics also the requests that the log leaves out. */
function withMetrics(log: Observe, metrics: () => Metrics | undefined): Observe {
  const observe: Observe = (observation) => {
    if (!log.ignores?.has(observation.kind)) log(observation);
    metrics()?.observe(observation);
  };
  return Object.assign(observe, { ignores: new Set<Observation['kind']>() });
}
