import { existsSync, mkdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, type AccessDeps, createAccess } from '../access/access.ts';
import { type AuditEvent, type AuditStore, auditEntryOf } from '../access/audit.ts';
import { refuseForeignRoot } from '../access/data-owner.ts';
import type { KnownMembers } from '../access/members.ts';
import { createSecretFile, isOpenToGroup, loadSecret } from '../access/secret.ts';
import { ClientError, OperatorError, SettingError } from '../core/errors.ts';
import { createMarket } from '../market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from '../market/universe.ts';
import type { Context } from '../operations/engine/operation.ts';
import type { ValuesIn } from '../settings/config.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { type FolderLock, lockFolder } from '../store/folder/folder-lock.ts';
import { refuseMigrationDraft } from '../store/folder/migration-draft.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { MIRROR, requireFitMirror } from '../store/mirror-file.ts';
import { openStore, type SharedStore, type Store, type StoreEvents, type StoreMode } from '../store/sqlite.ts';

/** The settings of all commands that read stored market data, including the service. */
export type DataSettings = ValuesIn<'data'>;

/** Where the data of a command is decided and kept. */
export type DataPlace = Pick<DataSettings, 'dataDir' | 'store'> & Partial<Pick<DataSettings, 'storePassword'>>;

/** Creates the context of the operations for an open store. `simulated` selects either the simulated data or the data of real feeds. */
export function createContext(
  settings: DataSettings,
  store: SharedStore,
  universe: Universe,
  simulated: boolean,
): Context {
  return {
    market: createMarket(store, universe, simulated, Date.now),
    universe,
    nowMs: Date.now,
    feedStates: () => store.feedStates(),
    clockSteps: () => store.clockSteps(),
    gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
    staleAfterMs: settings.staleAfter,
    largePrintMinUsd: settings.largePrintMin,
    contagionMinUsd: settings.contagionMin,
  };
}

/** Reads the universe from a file. Without a file, returns the standard universe. Throws `SettingError` if the file is not usable. */
export function readUniverse(file: string | undefined): Universe {
  if (file === undefined) return STANDARD_UNIVERSE;
  try {
    return loadUniverse(readFileSync(file, 'utf8'));
  } catch (error) {
    const hint = error instanceof ClientError ? error.hint : undefined;
    throw new SettingError(
      `--universe: ${file}: ${(error as Error).message}`,
      hint ?? 'Give a JSON file that this user may read.',
      { cause: error },
    );
  }
}

export interface OpenDataOptions extends StoreEvents {
  /** Called if the users in the folder's group may write to the folder. */
  readonly warn?: () => void;
}

/**
 * Opens the database of a data folder. The mode `own` creates a missing folder with the mode 0700, and the other modes need a database.
 * Throws `OperatorError` if there is none, if a migration into the folder is not complete, if every user may write to the folder, or if root would
 * write to another user's folder.
 */
export function openData(
  dataDir: string,
  mode: StoreMode = 'own',
  { warn, onUpgrade, onDamaged }: OpenDataOptions = {},
): Store & Disposable {
  refuseMigrationDraft(dataDir);
  const path = join(dataDir, databaseIn({ dataDir, store: 'sqlite' }));
  if (mode === 'own') mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  else requireData(dataDir);
  if (checkFolder(dataDir, mode)) warn?.();
  let upgradedFrom: number | undefined;
  const store = openStore(path, Date.now, mode, {
    onUpgrade(from) {
      upgradedFrom = from;
      onUpgrade?.(from);
    },
    onDamaged,
  });
  if (upgradedFrom !== undefined) {
    saveAuditEvent(store, { action: 'upgraded', detail: `schema ${upgradedFrom} to ${SCHEMA}` });
  }
  return withDispose(store, () => store.close());
}

/**
 * Opens the stored data to read: the database of a server alone, or the copy of the database that servers share. Throws what `openData` throws,
 * and if the copy does not have all data yet.
 */
export function openStored(place: DataPlace, warn?: () => void): Store & Disposable {
  const { dataDir, store: at } = place;
  const path = join(dataDir, databaseIn(place));
  if (at === 'sqlite') return openData(dataDir, 'read', warn && { warn });
  requireData(dataDir, MIRROR);
  if (checkFolder(dataDir, 'read')) warn?.();
  requireFitMirror(path, { mayLack: false });
  const store = openStore(path, Date.now, 'read');
  return withDispose(store, () => store.close());
}

/** Returns the name of the file that has the data. Throws `OperatorError` if the folder has the data of the other kind of server. */
export function databaseIn({ dataDir, store }: DataPlace): typeof DATABASE | typeof MIRROR {
  if (store !== 'sqlite' && hasData(dataDir)) {
    throw new OperatorError(
      `${dataDir} has the data of a server alone, and --store names a database that servers share`,
      'Move the data into the database with `zomma migrate`, or give another folder with --data-dir.',
    );
  }
  if (store === 'sqlite' && !hasData(dataDir) && hasData(dataDir, MIRROR)) {
    throw new OperatorError(
      `${dataDir} has the copy of a database that servers share`,
      'Name the database with --store, or give another folder with --data-dir.',
    );
  }
  return store === 'sqlite' ? DATABASE : MIRROR;
}

/** Returns whether a group may write to the folder. Throws `OperatorError` if everybody may, or if root would write files of another user. */
function checkFolder(dataDir: string, mode: StoreMode): boolean {
  if (mode !== 'read') refuseForeignRoot(dataDir);
  return isOpenToGroup(dataDir);
}

/** Makes a resource usable in a `using` declaration, which releases the resource at the end of its scope, even after an error. */
function withDispose<Resource extends object>(resource: Resource, release: () => void): Resource & Disposable {
  return Object.assign(resource, { [Symbol.dispose]: release });
}

function saveAuditEvent(store: AuditStore, event: AuditEvent): void {
  store.saveAudit(auditEntryOf(event, Date.now()));
}

/**
 * Calls `work` with the stored data and the access check of a data folder. A server may use the folder at the same time. The modes `read` and
 * `write` need a folder with data, and `create` makes it. With a database that servers share, writes go into the database.
 */
export async function withStore<T>(
  place: DataPlace,
  mode: 'read' | 'write' | 'create',
  work: (store: SharedStore, access: Access) => T | Promise<T>,
): Promise<T> {
  const { dataDir } = place;
  if (place.store !== 'sqlite' && mode !== 'read') return withVisit(place, mode, work);
  const isNew = mode === 'create' && !hasData(dataDir);
  using store = mode === 'read' ? openStored(place) : openData(dataDir, isNew ? 'own' : 'write');
  return await work(store, openAccess(store, dataDir));
}

/** The same for writes into a database that servers share. */
async function withVisit<T>(
  place: DataPlace,
  mode: 'write' | 'create',
  work: (store: SharedStore, access: Access) => T | Promise<T>,
): Promise<T> {
  const { dataDir } = place;
  databaseIn(place);
  if (mode === 'write') requireData(dataDir, MIRROR);
  if (existsSync(dataDir)) checkFolder(dataDir, 'write');
  // A command without such a database does not load this module.
  const { visitCluster } = await import('../cluster/visit-cluster.ts');
  await using visit = await visitCluster(place);
  return await work(visit.store, openAccess(visit.store, dataDir, { shared: visit.secret }));
}

/**
 * Calls `work` with the stored market data of a data folder. A server may use the folder at the same time. A missing folder is not created:
 * the market is then empty. The simulated market is used only if there is no recorded data.
 */
export function withMarket<T>(settings: DataSettings, work: (context: Context) => T): T {
  const isStored = settings.store !== 'sqlite' || hasData(settings.dataDir, databaseIn(settings));
  using store = isStored ? openStored(settings) : openMemory();
  const simulated = store.underlyings(false).length === 0;
  return work(createContext(settings, store, readUniverse(settings.universe), simulated));
}

/** Reads the secret of a data folder. Throws `OperatorError` if the secret is missing, or if a rotation is incomplete. */
export function presentSecret(dataDir: string): Uint8Array {
  const [secret, next] = createSecretFile(
    dataDir,
    () => 1,
    () => {},
  ).read();
  if (next) throw rotatingError();
  return secret;
}

export function rotatingError(): OperatorError {
  return new OperatorError('the secret is being rotated', 'Try again when `zomma secret rotate` has ended.');
}

/** Locks a data folder for this server. Creates the folder if it does not exist. */
export function lockData(dataDir: string): FolderLock & Disposable {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  refuseForeignRoot(dataDir);
  // `isOpenToGroup` throws if every user may write to the folder, because any user could then have created the lock.
  isOpenToGroup(dataDir);
  const lock = lockFolder(dataDir);
  return withDispose(lock, () => lock.release());
}

/** Opens the database of a data folder for writing. Creates a missing database. Never upgrades the database. */
export function createOrOpenData(dataDir: string): Store & Disposable {
  return openData(dataDir, hasData(dataDir) ? 'write' : 'own');
}

/** Throws `OperatorError` if a data folder has no database, or with `MIRROR` no copy of the database that servers share. */
export function requireData(dataDir: string, file = databaseIn({ dataDir, store: 'sqlite' })): void {
  if (hasData(dataDir, file)) return;
  if (file === MIRROR)
    throw new OperatorError(
      `${dataDir} has no copy of the data`,
      'Name the folder of a server with --data-dir. A server makes the copy when it starts: `zomma serve --store ...`.',
    );
  throw new OperatorError(
    `${dataDir} has no data of Zomma`,
    'Name the folder of the server with --data-dir. A server creates its folder: start it first with `zomma serve` or `zomma start`.',
  );
}

/** Returns the sizes of the database and of its write-ahead log, and the free space on their disk, bytes. */
export function diskUse(dataDir: string, database = DATABASE): { database: number; wal: number; free: number } {
  const path = join(dataDir, database);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(dataDir);
  return { database: sizeOf(path), wal: sizeOf(`${path}-wal`), free: bavail * bsize };
}

/** Returns whether the folder has a database, or another file with data. */
export function hasData(dataDir: string, file: string = DATABASE): boolean {
  return existsSync(join(dataDir, file));
}

/** Opens an empty store in memory. */
export function openMemory(): Store & Disposable {
  const store = openStore(':memory:', Date.now, 'own');
  return withDispose(store, () => store.close());
}

/** Creates the access check of a data folder. A derivation of a key reads the secret, or creates it if there is no member. */
export function openAccess(
  store: SharedStore,
  dataDir: string,
  options: Pick<AccessDeps, 'areMembersCurrent' | 'shared'> = {},
): Access {
  return createAccess({
    members: store,
    secret: createSecretFile(
      dataDir,
      () => store.members().length,
      () => void store.write((tx) => saveAuditEvent(tx, { action: 'secret_created' })),
    ),
    nowMs: Date.now,
    ...options,
  });
}

/** Returns what to do about a secret that is not that of the members. Servers that share a database have the right one on another machine. */
export function foreignSecretHint({ store }: Pick<DataPlace, 'store'>): string {
  const action =
    store === 'sqlite'
      ? 'Restore the file "secret", or run `zomma secret rotate`, which gives every member a new key.'
      : 'Copy the file "secret" (mode 600) from the data folder of the server where it was rotated. A running server reads it at once.';
  return `All keys work, but \`my-key\` refuses every member. ${action}`;
}

/** Reads the secret of a data folder, which must exist. Throws an `OperatorError` that names the fault. Does not create a database. */
export function readSecret(store: KnownMembers, dataDir: string): Uint8Array {
  return loadSecret(dataDir, Math.max(1, store.members().length));
}
