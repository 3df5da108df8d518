import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/join-cluster.ts';
import { OperatorError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { SnapshotListing } from '../market/store.ts';
import type { ValuesIn } from '../settings/config.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { openData } from './stored-data.ts';

/** Where the data of a server is decided and kept. */
export interface Home {
  readonly store: SharedStore;
  /** Undefined if this server alone decides its data. */
  readonly cluster: Cluster | undefined;
  /** Returns false if a revocation might have been missed for longer than the settings allow. */
  readonly areMembersCurrent: () => boolean;
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
  if (settings.store === 'sqlite') {
    const store = openData(settings.dataDir, 'own', {
      warn: () => observe({ kind: 'data_folder_open', mended_by: 'chmod g-w' }),
      onUpgrade: (from) => observe({ kind: 'data_upgraded', from, to: SCHEMA }),
      onDamaged: events.onDamaged,
    });
    return { store, cluster: undefined, areMembersCurrent: () => true, close: async () => store.close() };
  }
  // A server alone does not load this module.
  const { joinCluster } = await import('../cluster/join-cluster.ts');
  const cluster = await joinCluster(settings, { observe, ...events });
  try {
    await cluster.start();
    if (!existsSync(join(settings.dataDir, 'secret')) && (await cluster.hasAccepted('secret'))) {
      throw new OperatorError(
        `${settings.dataDir} has no secret, and the other servers of the database have one`,
        'Copy the file "secret" from the data folder of another server (mode 600), and start again.',
      );
    }
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return {
    store: cluster.store,
    cluster,
    areMembersCurrent: () => cluster.sinceContactMs() < settings.trustMembers,
    close: () => cluster.close(),
  };
}
