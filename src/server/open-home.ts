import { join } from 'node:path';
import type { AccessDeps } from '../access/access.ts';
import type { Cluster } from '../cluster/join-cluster.ts';
import type { Observe } from '../core/events.ts';
import type { SnapshotListing } from '../market/store.ts';
import type { ValuesIn } from '../settings/config.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { databaseIn, openData } from './stored-data.ts';

/** Where the data of a server is decided and kept. */
export interface Home {
  readonly store: SharedStore;
  /** Undefined if this server alone decides its data. */
  readonly cluster: Cluster | undefined;
  /** The members, and what decides whether they are current. */
  readonly members: { readonly ledger: SharedStore } & Pick<AccessDeps, 'areMembersCurrent' | 'shared'>;
  close(): Promise<void>;
}

export interface HomeEvents {
  readonly onDamaged: (snapshot: SnapshotListing) => void;
  /** Called after other servers have changed the data. */
  readonly onApplied: () => void;
}

/**
 * Opens the database of a data folder, or joins the servers that share the database of `--store` and waits until the copy of its data is
 * complete. Throws `OperatorError` if neither is possible.
 */
export async function openHome(
  settings: ValuesIn<'data' | 'server'>,
  observe: Observe,
  events: HomeEvents,
): Promise<Home> {
  databaseIn(settings);
  if (settings.store === 'sqlite') {
    const store = openData(settings.dataDir, 'own', {
      warn: () => observe({ kind: 'data_folder_open', mended_by: 'chmod g-w' }),
      onUpgrade: (from) => observe({ kind: 'data_upgraded', from, to: SCHEMA }),
      onDamaged: events.onDamaged,
    });
    return { store, cluster: undefined, members: { ledger: store }, close: async () => store.close() };
  }
  // A server alone does not load this module.
  const { joinCluster } = await import('../cluster/join-cluster.ts');
  const cluster = await joinCluster(settings, { observe, ...events });
  try {
    await cluster.start();
    await cluster.requireFile('secret', join(settings.dataDir, 'secret'));
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return {
    store: cluster.store,
    cluster,
    members: {
      ledger: cluster.members.ledger,
      shared: cluster.members.secret,
      areMembersCurrent: () => cluster.sinceContactMs() < settings.trustMembers,
    },
    close: () => cluster.close(),
  };
}
