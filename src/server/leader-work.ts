import { startAuditLog } from '../access/audit-log.ts';
import type { Observe } from '../core/events.ts';
import { startClockWatch } from '../feeds/clock-watch.ts';
import type { DiskSpace } from '../feeds/disk-space.ts';
import type { JournalStorage } from '../feeds/files/journal-storage.ts';
import { type IngestDeps, startIngests } from '../feeds/ingest.ts';
import { startPacking } from '../feeds/packing.ts';
import { startRetention } from '../feeds/retention.ts';
import { createLevelRecorder, type LevelRecorder } from '../operations/history/level-recorder.ts';
import type { SharedStore } from '../store/sqlite.ts';
import type { App, AppSettings } from './app.ts';
import { startPastFill } from './fill-past.ts';

export interface LeaderWorkDeps {
  readonly app: App;
  /** The store whose writes count: of this server, or of the servers that share a database. */
  readonly store: SharedStore;
  /** Where the feed of a drop folder records what it reads, if not in the data folder. */
  readonly journal?: JournalStorage | undefined;
  readonly settings: AppSettings;
  readonly room: DiskSpace;
  readonly observe: Observe;
}

/** The work that only one server of a store does. */
export type LeaderWork = ReturnType<typeof startLeaderWork>;

/**
 * Starts the feeds, the watch of the clock, and the log of the audit trail. After the load of local data, also starts the recorder of
 * levels, the removal of old data, and the packing of the tape.
 */
export function startLeaderWork({ app, store, journal, settings, room, observe }: LeaderWorkDeps) {
  const { context, tickerInView } = app;
  // Feeds remember what they have read, and another server may have led meanwhile.
  const feeds = app.createFeeds(journal);
  const { largePrintMinUsd, universe } = context;
  const resources = new AsyncDisposableStack();
  let isStopped = false;
  let recorder: LevelRecorder | undefined;
  const auditLog = startAuditLog(store, observe);
  resources.defer(async () => (await auditLog)());
  resources.adopt(startClockWatch({ store, observe }), (watch) => watch.stop());
  const onStored: IngestDeps['onStored'] = (chains) => recorder?.wake(chains);
  const ingests = startIngests(feeds, { store, observe, nowMs: Date.now, room, onStored });
  const background = { store, observe, nowMs: Date.now, isAnswering: () => app.scheduler.size > 0 };
  const onRecorded = () => {
    app.gexStreams.wake();
    app.mcp.wake();
  };
  const beginRecording = async (): Promise<void> => {
    if (isStopped) return;
    const firstId = () => store.latestChainId(tickerInView(), feeds[0]!.simulated);
    recorder = createLevelRecorder({ store, largePrintMinUsd, observe, firstId, onRecorded });
    resources.adopt(recorder, ({ stop }) => stop());
    recorder.wake();
    const { keepChains: chains, keepIntraday: intraday, keepPrints: prints, keepLevels: levels } = settings;
    const retention = startRetention({ ...background, kept: { chains, intraday, prints, levels } });
    resources.adopt(retention, ({ stop }) => stop());
    resources.adopt(startPacking(background), ({ stop }) => stop());
    await recorder.idle();
  };
  return {
    /** Resolves when the local feeds are loaded. */
    loaded: ingests.localLoaded,
    /** Resolves when the levels of the loaded data are recorded. */
    recorded: ingests.localLoaded.then(beginRecording),
    /** Fills the past of the simulated market, if the settings ask for it. */
    fillPast(): void {
      if (isStopped || !settings.past || !feeds.some(({ simulated }) => simulated)) return;
      const { seed, simClock: clock } = settings;
      const past = startPastFill({ ...background, seed, clock, universe, largePrintMinUsd, tickerInView, room });
      resources.defer(() => past.stop());
    },
    /** Stops the feeds. Resolves with false if one still runs after some seconds. */
    stopFeeds: ingests.stop,
    /** Stops all work. Resolves with false if a feed still runs. */
    async stop(): Promise<boolean> {
      isStopped = true;
      const haveFeedsStopped = await ingests.stop();
      await resources.disposeAsync();
      return haveFeedsStopped;
    },
  };
}
