import { existsSync } from 'node:fs';
import type { Cluster } from '../cluster/join-cluster.ts';
import type { SharedStore } from '../store/sqlite.ts';
import type { App } from './app.ts';
import { dropFolderOf } from './create-feeds.ts';
import type { LeaderWork } from './leader-work.ts';

export interface LeadingDeps {
  /** The setting `--feed`. */
  readonly feed: string;
  /** Returns why this server cannot lead now, one sentence, or undefined. */
  readonly obstacle: () => string | undefined;
  readonly beginWork: (store: SharedStore) => LeaderWork;
  readonly stopWork: (work: LeaderWork) => Promise<void>;
}

/** Does the work of the leader whenever this server leads. A server that lacks the drop folder leaves it to others. */
export function startLeading(cluster: Cluster, app: App, { feed, obstacle, beginWork, stopWork }: LeadingDeps) {
  const folder = dropFolderOf(feed);
  const missing = () =>
    folder === undefined || existsSync(folder) ? undefined : `The drop folder ${folder} is missing on this machine.`;
  return cluster.lead(
    (store) => {
      let work: LeaderWork | undefined;
      let isOver = false;
      const begun = app.openFeeds(store).then(() => {
        if (isOver) return;
        work = beginWork(store);
        void work.recorded.then(work.fillPast, () => {});
      });
      // Without the first write, the lease was lost at once, and the work never began.
      const settled = begun.catch(() => {});
      return async () => {
        isOver = true;
        await settled;
        if (work) await stopWork(work);
      };
    },
    () => missing() ?? obstacle(),
  );
}

/** Interval at which a new cluster is asked for its first data, ms. */
const LOOK_MS = 50;

/** Resolves when the servers of a cluster have data, or have looked for it. */
export async function firstData({ store, feeds }: App): Promise<void> {
  const hasData = () => store.underlyings(feeds[0]!.simulated, '', 1).length > 0;
  const hasLooked = () => store.feedStates().some(({ completedAt, error }) => completedAt !== null || error !== null);
  while (!hasData() && !hasLooked()) await Bun.sleep(LOOK_MS);
}
