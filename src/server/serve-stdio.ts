import { version } from '../../package.json';
import { isBusy } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import { createDiskSpace } from '../feeds/disk-space.ts';
import { type IngestDeps, startIngests } from '../feeds/ingest.ts';
import type { Feed } from '../market/feed.ts';
import type { Universe } from '../market/universe.ts';
import { catalogOf } from '../mcp/catalog.ts';
import { serveOverStdio } from '../mcp/stdio/serve-over-stdio.ts';
import { createLevelRecorder, type LevelRecorder } from '../operations/history/level-recorder.ts';
import type { ValuesIn } from '../settings/config.ts';
import type { Store } from '../store/sqlite.ts';
import { createFeeds } from './create-feeds.ts';
import {
  createContext,
  createOrOpenData,
  databaseIn,
  hasData,
  openMemory,
  openStored,
  readUniverse,
} from './stored-data.ts';

export type StdioSettings = Omit<ValuesIn<'data' | 'feeds' | 'mcp' | 'log'>, 'feed'> & {
  readonly feed: string | undefined;
};

/** Interval between two looks for levels that a server has recorded, ms. */
const LOOK_MS = 500;

/** Serves MCP over standard input and output, with the data of the store and the feeds, until the end of the input, SIGTERM or SIGINT. */
export async function serveStdio(settings: StdioSettings): Promise<void> {
  const observe = createLog(settings.logLevel);
  const universe = readUniverse(settings.universe);
  const stopped = Promise.withResolvers<true>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve(true));
  // Without `--feed`, a missing data folder is not created. With `--feed`, the data of the feed is stored in the folder.
  const isStored = settings.feed !== undefined || hasData(settings.dataDir, databaseIn(settings));
  const isCopy = settings.store !== 'sqlite';
  // The stack closes the resources in reverse order, even after an error.
  await using resources = new AsyncDisposableStack();
  const openOwn = () => (isStored ? createOrOpenData(settings.dataDir) : openMemory());
  const store = resources.use(isCopy ? openStored(settings) : openOwn());
  const feeds = isCopy ? [] : feedsOf(settings, universe, store);
  const simulated = isCopy ? store.underlyings(false).length === 0 : feeds.some((feed) => feed.simulated);
  const context = createContext(settings, store, universe, simulated);
  let recorder: LevelRecorder | undefined;
  const room = isStored ? { room: createDiskSpace({ ...settings, observe }) } : {};
  const onStored: IngestDeps['onStored'] = (chains) => recorder?.wake(chains);
  const ingests = startIngests(feeds, { store, observe, nowMs: Date.now, ...room, onStored });
  resources.defer(async () => void (await ingests.stop()));
  if (await Promise.race([ingests.localLoaded.then(() => undefined), stopped.promise])) return;

  const { largePrintMinUsd } = context;
  const stdio = serveOverStdio({ context, version, observe, ...catalogOf(settings.tools), log: store, simulated });
  if (isCopy) {
    // One of the servers that share a database records the levels.
    const look = () => {
      try {
        stdio.wake();
      } catch (error) {
        // The next look finds the same levels.
        if (!isBusy(error)) throw error;
      }
    };
    resources.adopt(setInterval(look, LOOK_MS), clearInterval);
  } else {
    recorder = createLevelRecorder({ store, largePrintMinUsd, observe, onRecorded: stdio.wake });
    resources.adopt(recorder, ({ stop }) => stop());
    recorder.wake();
  }
  await Promise.race([stdio.closed, stopped.promise]);
  await stdio.close();
}

/**
 * Returns the feeds of `--feed`. Without `--feed`, returns the simulated market if nothing is stored. If data is stored, returns no feed,
 * because a server that uses the same data folder may store new data.
 */
function feedsOf(settings: StdioSettings, universe: Universe, store: Store): Feed[] {
  if (settings.feed === undefined && store.underlyings(false).length > 0) return [];
  if (settings.feed === undefined) {
    process.stderr.write(`zomma: nothing is stored in ${settings.dataDir}: answers use the simulated market\n`);
  }
  const feeds = createFeeds({ ...settings, feed: settings.feed ?? 'simulated' }, universe, () =>
    store.checkpoints('files'),
  );
  store.openFeeds(feeds);
  return feeds;
}
