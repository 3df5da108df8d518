import { type App, buildApp } from './app.ts';
import type { FeedSettings } from './create-feeds.ts';
import { OperatorError } from './errors.ts';
import { startWatchdog } from './event-loop-watchdog.ts';
import { createDataRoom } from './feeds/data-room.ts';
import { type Ingest, startIngest } from './feeds/ingest.ts';
import { startPacking } from './feeds/packing.ts';
import { type KeptDays, startRetention } from './feeds/retention.ts';
import { type ListenSettings, listen, listenOptions } from './http/listen.ts';
import { createLog, logLevel } from './log.ts';
import { isAtHand } from './market/feed.ts';
import { createLevelRecorder, type LevelRecorder } from './operations/level-recorder.ts';
import { warmUp } from './operations/warm-up.ts';
import type { DataSettings } from './stored-data.ts';

export interface ServeSettings extends DataSettings, FeedSettings, ListenSettings {
  readonly rateLimit: string;
  readonly logLevel: string;
  readonly keepChains?: string | undefined;
  readonly keepIntraday?: string | undefined;
  readonly keepPrints?: string | undefined;
}

/** Requests in flight get so long to finish; with streams closed first, the process ends within five seconds. */
const STOP_DEADLINE_MS = 3_000;
/** What has not ended by then, a file system that does not answer say, ends with the process. What is stored is complete at any moment. */
const FORCED_STOP_MS = 4_700;
/** A reading ends with what it has in hand, unless the system keeps it from that. */
const INGEST_STOP_MS = 3_000;
/** Flow reads thirty days, and parts of one. */
const FLOW_DAYS = 31;

/**
 * Runs the service until SIGTERM or SIGINT: listens, prints the ready line, loads what lies at hand, polls on.
 * `welcome` may print to stdout before the ready line.
 */
export async function serve(settings: ServeSettings, welcome?: (app: App, url: string) => void): Promise<void> {
  const startedAt = performance.now();
  const since = () => Math.round(performance.now() - startedAt);
  const observe = createLog(logLevel(settings.logLevel));
  const listening = listenOptions(settings);
  const kept = keptDays(settings);
  const room = createDataRoom({ ...settings, observe });
  const app = buildApp(settings, observe);
  const { feeds, store, loading } = app;
  const stopped = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve(signal));
  void stopped.promise.then(() => {
    const forced = () => {
      observe({ kind: 'stop_forced' });
      process.exit(0);
    };
    setTimeout(forced, FORCED_STOP_MS).unref();
  });
  const watchdog = startWatchdog(observe);
  let recorder: LevelRecorder | undefined;
  let retention: ReturnType<typeof startRetention> | undefined;
  let packing: ReturnType<typeof startPacking> | undefined;
  let ingests: Ingest[] = [];
  let ended: Promise<boolean> | undefined;
  let isStopping = false;
  const stopIngests = () => (ended ??= withinMs(INGEST_STOP_MS, Promise.all(ingests.map((ingest) => ingest.stop()))));
  try {
    const server = listen(app.handle, listening, app.connections);
    welcome?.(app, server.url);
    process.stdout.write(`listening on ${server.url}\n`);
    observe({ kind: 'started', address: server.url, feed: settings.feed, duration_ms: since() });

    ingests = feeds.map((feed) =>
      startIngest({ feed, store, observe, nowMs: Date.now, room, stored: () => recorder?.wake() }),
    );
    // A network has its own time: what is stored is served meanwhile.
    const atHand = Promise.all(ingests.filter((_, at) => isAtHand(feeds[at]!)).map(({ loaded }) => loaded));
    loading.begin(atHand);
    if (!(await Promise.race([atHand, stopped.promise.then(() => undefined)]))) return await shutDown(server);

    observe({ kind: 'loaded', duration_ms: since() });
    const { largePrintMinUsd } = app.context;
    const recorded = () => {
      app.gexStreams.wake();
      app.mcp.wake();
    };
    recorder = createLevelRecorder({ store, largePrintMinUsd, observe, recorded });
    recorder.wake();
    retention = startRetention({ store, kept, observe, nowMs: Date.now });
    packing = startPacking({ store, observe, nowMs: Date.now });
    await Promise.race([recorder.idle(), stopped.promise]);
    // What was made and compiled for the load alone goes back to the system: of the simulated market's 115 MiB a third.
    Bun.shrink();
    await warmUp(app.context, app.scheduler);
    await stopped.promise;
    await shutDown(server);
  } finally {
    watchdog.stop();
    retention?.stop();
    await packing?.stop();
    const isIdle = await stopIngests();
    await recorder?.stop();
    store.close();
    // A read that hangs in the system, on a network mount that is gone, would hold the process for ever.
    if (!isIdle && isStopping) process.exit();
  }

  async function shutDown(server: ReturnType<typeof listen>): Promise<void> {
    observe({ kind: 'stopping', signal: await stopped.promise });
    isStopping = true;
    loading.giveUp();
    void stopIngests();
    // Streams first: the server would wait for them for ever.
    app.gexStreams.close();
    await app.mcp.close();
    await server.stop(STOP_DEADLINE_MS);
  }
}

/** Whether something is over within so long. */
function withinMs(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  return Promise.race([work.then(() => true), promise]).finally(() => clearTimeout(timer));
}

function keptDays({ keepChains, keepIntraday, keepPrints }: ServeSettings): KeptDays {
  return {
    chains: days(keepChains, '--keep-chains', 1),
    intraday: days(keepIntraday, '--keep-intraday', 1),
    prints: days(keepPrints, '--keep-prints', FLOW_DAYS),
  };
}

function days(text: string | undefined, flag: string, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) >= least) return Number(text);
  throw new OperatorError(
    `${flag} is not a number of days from ${least} on`,
    `e.g. ${flag} 90; leave it out to keep all`,
  );
}
