import { existsSync, mkdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, createAccess } from '../access/access.ts';
import { type AuditEvent, type AuditStore, auditEntryOf } from '../access/audit.ts';
import { refuseForeignRoot } from '../access/data-owner.ts';
import type { KnownMembers } from '../access/members.ts';
import { createSecretFile, isOpenToGroup, loadSecret } from '../access/secret.ts';
import { ClientError, OperatorError, SettingError } from '../core/errors.ts';
import { formatBytes } from '../feeds/disk-space.ts';
import { type RetentionDays, removeOld } from '../feeds/retention.ts';
import { createMarket } from '../market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from '../market/universe.ts';
import type { Context } from '../operations/engine/operation.ts';
import type { ValuesIn } from '../settings/config.ts';
import { saveAuditIn } from '../store/audit-table.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { type FolderLock, lockFolder } from '../store/folder/folder-lock.ts';
import { refuseMigrationDraft } from '../store/folder/migration-draft.ts';
import { compactDatabase, copyBeforeUpgrade, SCHEMA, undoUpgrade } from '../store/folder/upgrade.ts';
import { openStore, type SharedStore, type Store, type StoreEvents, type StoreMode } from '../store/sqlite.ts';

/** The settings of all commands that read stored market data, including the service. */
export type DataSettings = ValuesIn<'data'>;

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
  const path = join(dataDir, DATABASE);
  refuseMigrationDraft(dataDir);
  if (mode === 'own') mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  else requireData(dataDir);
  if (mode !== 'read') refuseForeignRoot(dataDir);
  if (isOpenToGroup(dataDir)) warn?.();
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

/** Makes a resource usable in a `using` declaration, which releases the resource at the end of its scope, even after an error. */
function withDispose<Resource extends object>(resource: Resource, release: () => void): Resource & Disposable {
  return Object.assign(resource, { [Symbol.dispose]: release });
}

function saveAuditEvent(store: AuditStore, event: AuditEvent): void {
  store.saveAudit(auditEntryOf(event, Date.now()));
}

/** Calls `work` with the store and the access check of a data folder, which must exist. A server may use the folder at the same time. */
export async function withStore<T>(
  dataDir: string,
  mode: 'read' | 'write',
  work: (store: SharedStore, access: Access) => T | Promise<T>,
): Promise<T> {
  using store = openData(dataDir, mode);
  return await work(store, openAccess(store, dataDir));
}

/**
 * Calls `work` with the stored market data of a data folder. A server may use the folder at the same time. A missing folder is not created:
 * the market is then empty. The simulated market is used only if there is no recorded data.
 */
export function withMarket<T>(settings: DataSettings, work: (context: Context) => T): T {
  using store = hasData(settings.dataDir) ? openData(settings.dataDir, 'read') : openMemory();
  const simulated = store.underlyings(false).length === 0;
  return work(createContext(settings, store, readUniverse(settings.universe), simulated));
}

/** Reads the secret of a data folder. Throws `OperatorError` if the secret is missing, or if a rotation is incomplete. */
export function presentSecret(dataDir: string): Uint8Array {
  const [secret, next] = createSecretFile(
    dataDir,
    () => Number.POSITIVE_INFINITY,
    () => {},
  ).read();
  if (next) throw rotatingError();
  return secret;
}

export function rotatingError(): OperatorError {
  return new OperatorError('the secret is being rotated', 'Try again when `zomma secret rotate` has ended.');
}

/** Upgrades the database of a data folder on which no server runs. Throws `OperatorError` if a server runs, or if there is no data. */
export function upgradeData(dataDir: string): { from: number; to: number; copy: string } {
  requireData(dataDir);
  using _lock = lockData(dataDir);
  let from = SCHEMA;
  openData(dataDir, 'own', {
    onUpgrade(schema) {
      from = schema;
    },
  }).close();
  return { from, to: SCHEMA, copy: copyBeforeUpgrade(join(dataDir, DATABASE), from) };
}

/** Restores the database from before the last upgrade. Throws `OperatorError` if a server runs, or if there is no copy. */
export function undoDataUpgrade(dataDir: string): { schema: number; kept: string } {
  requireData(dataDir);
  using _lock = lockData(dataDir);
  const path = join(dataDir, DATABASE);
  const undone = undoUpgrade(path);
  // The audit entry is also written to the replaced database, which is kept.
  const entry = auditEntryOf({ action: 'upgrade_undone', detail: `back to schema ${undone.schema}` }, Date.now());
  for (const each of [path, undone.kept]) saveAuditIn(each, entry);
  return undone;
}

/**
 * Removes data older than its retention from a folder, and frees its disk space. Returns the removed amounts, and the size of the database
 * in bytes before and after the removal. Throws `OperatorError` if a server runs, or if the disk has too little space for a copy.
 */
export async function compactData(dataDir: string, kept: RetentionDays) {
  requireData(dataDir);
  using _lock = lockData(dataDir);
  const bytes = () => diskUse(dataDir).database + diskUse(dataDir).wal;
  const before = bytes();
  const { free } = diskUse(dataDir);
  if (free < before) {
    throw new OperatorError(
      `the disk has ${formatBytes(free)} free, and the new copy of the database takes up to ${formatBytes(before)}`,
      'Make room on the disk of the data folder, or back up to another disk and restore from there.',
    );
  }
  const store = openData(dataDir, 'write');
  const removed = await removeOld({ store, kept, observe: () => {}, nowMs: Date.now }).finally(() => store.close());
  compactDatabase(join(dataDir, DATABASE));
  return { removed, before, after: bytes() };
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

export function requireData(dataDir: string): void {
  if (hasData(dataDir)) return;
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

/** Returns whether the folder has a database. */
export function hasData(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE));
}

/** Opens an empty store in memory. */
export function openMemory(): Store & Disposable {
  const store = openStore(':memory:', Date.now, 'own');
  return withDispose(store, () => store.close());
}

/** Creates the access check of a data folder. A derivation of a key reads the secret, or creates it if there is no member. */
export function openAccess(store: SharedStore, dataDir: string, areMembersCurrent?: () => boolean): Access {
  return createAccess({
    members: store,
    secret: createSecretFile(
      dataDir,
      () => store.members().length,
      () => void store.write((tx) => saveAuditEvent(tx, { action: 'secret_created' })),
    ),
    nowMs: Date.now,
    areMembersCurrent,
  });
}

export const FOREIGN_SECRET_HINT =
  'All keys work, but `my-key` refuses every member. Restore the file "secret", or run `zomma secret rotate`, which gives every member a new key.';

/** Reads the secret of a data folder, which must exist. Throws an `OperatorError` that names the fault. Does not create a database. */
export function readSecret(store: KnownMembers, dataDir: string): Uint8Array {
  return loadSecret(dataDir, Math.max(1, store.members().length));
}
