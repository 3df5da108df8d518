import { type App, buildApp, type DataSettings } from './app.ts';
import type { FeedSettings } from './create-feeds.ts';
import { OperatorError } from './errors.ts';
import { startIngest } from './feeds/ingest.ts';
import { startPacking } from './feeds/packing.ts';
import { type KeptDays, startRetention } from './feeds/retention.ts';
import { type ListenSettings, listen, listenOptions } from './http/listen.ts';
import { createLog, logLevel } from './log.ts';
import { isAtHand } from './market/feed.ts';
import { createLevelRecorder, type LevelRecorder } from './operations/level-recorder.ts';
import { warmUp } from './operations/warm-up.ts';

export interface ServeSettings extends DataSettings, FeedSettings, ListenSettings {
  readonly rateLimit: string;
  readonly logLevel: string;
  readonly keepChains?: string | undefined;
  readonly keepIntraday?: string | undefined;
  readonly keepPrints?: string | undefined;
}

/** Requests in flight get so long to finish; with streams closed first, the process ends within five seconds. */
const STOP_DEADLINE_MS = 3_000;
/** Flow reads thirty days, and parts of one. */
const FLOW_DAYS = 31;
/** With the analysis that is under way when they are over, less than a tenth of a second. */
const WARM_UP_MS = 50;

/**
 * Runs the service until SIGTERM or SIGINT: loads what the feed has, listens, prints the ready line, polls on.
 * `welcome` may print to stdout before the ready line.
 */
export async function serve(settings: ServeSettings, welcome?: (app: App, url: string) => void): Promise<void> {
  const startedAt = performance.now();
  const observe = createLog(logLevel(settings.logLevel));
  const listening = listenOptions(settings);
  const kept = keptDays(settings);
  const app = buildApp(settings, observe);
  const stopped = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve(signal));
  let recorder: LevelRecorder | undefined;
  let retention: ReturnType<typeof startRetention> | undefined;
  let packing: ReturnType<typeof startPacking> | undefined;
  const { feeds, store } = app;
  const ingests = feeds.map((feed) =>
    startIngest({ feed, store, observe, nowMs: Date.now, stored: () => recorder?.wake() }),
  );
  try {
    // What lies at hand is served from the first request on; a network has its own time.
    const atHand = ingests.filter((_, at) => isAtHand(feeds[at]!)).map(({ loaded }) => loaded);
    if (await Promise.race([Promise.all(atHand).then(() => undefined), stopped.promise])) return;

    warmUp(app.context, performance.now() + WARM_UP_MS);
    const server = listen(app.handle, listening);
    const { largePrintMinUsd } = app.context;
    const recorded = () => {
      app.gexStreams.wake();
      app.mcp.wake();
    };
    recorder = createLevelRecorder({ store, largePrintMinUsd, observe, recorded });
    recorder.wake();
    retention = startRetention({ store, kept, observe, nowMs: Date.now });
    packing = startPacking({ store, observe, nowMs: Date.now });
    welcome?.(app, server.url);
    process.stdout.write(`listening on ${server.url}\n`);
    const duration = Math.round(performance.now() - startedAt);
    observe({ kind: 'started', address: server.url, feed: settings.feed, duration_ms: duration });

    observe({ kind: 'stopping', signal: await stopped.promise });
    // Streams first: the server would wait for them for ever.
    app.gexStreams.close();
    await app.mcp.close();
    await server.stop(STOP_DEADLINE_MS);
  } finally {
    retention?.stop();
    await packing?.stop();
    await Promise.all(ingests.map((ingest) => ingest.stop()));
    await recorder?.stop();
    store.close();
  }
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
