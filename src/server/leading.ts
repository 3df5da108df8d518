import { existsSync } from 'node:fs';
import type { Cluster } from '../cluster/join-cluster.ts';
import { isAway } from '../core/errors.ts';
import { withinMs } from '../core/within-ms.ts';
import { type JournalStorage, ledgerJournal } from '../feeds/files/journal-storage.ts';
import type { SharedStore } from '../store/sqlite.ts';
import type { App } from './app.ts';
import { dropFolderOf } from './create-feeds.ts';
import type { LeaderWork } from './leader-work.ts';

export interface LeadingDeps {
  /** The setting `--feed`. */
  readonly feed: string;
  /** Returns why this server cannot lead now, one sentence, or undefined. */
  readonly obstacle: () => string | undefined;
  readonly beginWork: (store: SharedStore, journal?: JournalStorage) => LeaderWork;
  readonly stopWork: (work: LeaderWork) => Promise<void>;
}

/** Does the work of the leader whenever this server leads. A server that lacks the drop folder leaves it to others. */
export function startLeading(cluster: Cluster, app: App, { feed, obstacle, beginWork, stopWork }: LeadingDeps) {
  const folder = dropFolderOf(feed);
  const missing = () =>
    folder === undefined || existsSync(folder) ? undefined : `The drop folder ${folder} is missing on this machine.`;
  return cluster.lead(
    (store, { holder, isTakenOver }) => {
      // The last leader may have ended because of a file.
      const journal = isTakenOver ? ledgerJournal(store, holder) : undefined;
      let work: LeaderWork | undefined;
      let isOver = false;
      const begin = async (): Promise<void> => {
        while (!isOver) {
          try {
            await app.openFeeds(store);
            break;
          } catch (error) {
            if (!isAway(error)) throw error;
            await Bun.sleep(RETRY_MS);
          }
        }
        if (isOver) return;
        work = beginWork(store, journal);
        void work.recorded.then(work.fillPast, () => {});
      };
      const begun = begin();
      return async () => {
        isOver = true;
        await begun;
        if (work) await stopWork(work);
      };
    },
    () => missing() ?? obstacle(),
  );
}

/** Pause before the first write is tried again, ms. */
const RETRY_MS = 250;
/** Interval at which a new cluster is asked for its first data, ms. */
const LOOK_MS = 50;

/** Resolves when the servers of a cluster have data, or have looked for it, or when this server stops. */
export async function firstData({ store, feeds }: App, stopped: Promise<unknown>): Promise<void> {
  const hasData = () => store.underlyings(feeds[0]!.simulated, '', 1).length > 0;
  const hasLooked = () => store.feedStates().some(({ completedAt, error }) => completedAt !== null || error !== null);
  while (!hasData() && !hasLooked()) if (await withinMs(LOOK_MS, stopped)) return;
}
