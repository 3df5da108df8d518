import {
  closeSync,
  copyFileSync,
  existsSync,
  fchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../package.json';
import { type Access, createAccess } from '../access/access.ts';
import { type AuditEvent, type AuditStore, auditEntryOf } from '../access/audit.ts';
import { refuseForeignRoot } from '../access/data-owner.ts';
import type { KnownMembers } from '../access/members.ts';
import { createSecretFile, isOpenToGroup, loadSecret, storeSecret } from '../access/secret.ts';
import { ClientError, OperatorError, SettingError } from '../core/errors.ts';
import { formatBytes } from '../feeds/disk-space.ts';
import { type RetentionDays, removeOld } from '../feeds/retention.ts';
import { createMarket } from '../market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from '../market/universe.ts';
import type { Context } from '../operations/engine/operation.ts';
import type { ValuesIn } from '../settings/config.ts';
import { saveAuditIn } from '../store/audit-table.ts';
import {
  backupsIn,
  checkBackup,
  DATABASE,
  isSignedWith,
  type Manifest,
  makeBackup,
  restoreDatabase,
  secretIn,
} from '../store/folder/backup.ts';
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

/** Name of a file in the data folder. The file's modification time is the time of the last backup. */
const LAST_BACKUP = 'last-backup';

/**
 * Backs up a data folder to a new folder. With a passphrase, the backup includes the encrypted secret. A server may use the folder.
 * `isRecorded` is false if the data folder does not know of the backup.
 */
export async function backUpData(
  dataDir: string,
  to: string,
  { nowMs, passphrase }: { readonly nowMs: number; readonly passphrase: string | undefined },
): Promise<{ readonly manifest: Manifest; readonly isRecorded: boolean }> {
  requireData(dataDir);
  const path = join(dataDir, DATABASE);
  const secret = passphrase === undefined ? readableSecret(dataDir) : presentSecret(dataDir);
  if (passphrase !== undefined) {
    // Each copy of the secret gets an audit entry in advance, so that no copy lacks an entry.
    refuseForeignRoot(dataDir);
    saveAuditIn(path, auditEntryOf({ action: 'secret_backed_up' }, nowMs));
  }
  const manifest = await makeBackup(path, to, { version, nowMs, secret, passphrase });
  // A rotation during the copy leaves a backup whose secret may not fit its members.
  if (passphrase !== undefined && !Buffer.from(presentSecret(dataDir)).equals(secret!)) {
    rmSync(to, { recursive: true });
    throw rotating();
  }
  return { manifest, isRecorded: recordBackup(dataDir, manifest.made_at) };
}

/** Returns the secret of a data folder, or undefined if there is none, or if this user may not read it. */
function readableSecret(dataDir: string): Uint8Array | undefined {
  try {
    return existsSync(join(dataDir, 'secret')) ? loadSecret(dataDir, 1) : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the oldest backups in a folder, and keeps `count`. Yields the path of each removed backup. */
export function* removeOldBackups(folder: string, count: number): Generator<string, void> {
  for (const old of backupsIn(folder).slice(0, -count)) {
    rmSync(old, { recursive: true });
    yield old;
  }
}

/**
 * Writes the moment of a backup into the data folder, where the metrics of the server and `zomma check` read it. The file has the owner of the
 * folder, even if root makes the backup. The new file replaces the earlier one, so root never writes to a file that a link names. Returns
 * false if this user may not write to the folder.
 */
function recordBackup(dataDir: string, madeAt: string): boolean {
  const path = join(dataDir, LAST_BACKUP);
  const draft = `${path}.${process.pid}.partial`;
  try {
    const { uid, gid } = statSync(dataDir);
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, `${madeAt}\n`);
      if (process.geteuid?.() === 0) fchownSync(file, uid, gid);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    return true;
  } catch {
    return false;
  }
}

/** Reads the secret of a data folder. Throws `OperatorError` if the secret is missing, or if a rotation is incomplete. */
export function presentSecret(dataDir: string): Uint8Array {
  const [secret, next] = createSecretFile(
    dataDir,
    () => Number.POSITIVE_INFINITY,
    () => {},
  ).read();
  if (next) throw rotating();
  return secret;
}

function rotating(): OperatorError {
  return new OperatorError('the secret is being rotated', 'Try again when `zomma secret rotate` has ended.');
}

/** Returns the time of a data folder's last backup, ms since the epoch. Returns undefined if no backup was made. */
export function lastBackupMs(dataDir: string): number | undefined {
  return statSync(join(dataDir, LAST_BACKUP), { throwIfNoEntry: false })?.mtimeMs;
}

/** What proves who made a backup: the secret of a data folder, or the passphrase of the secret in the backup. */
export interface OriginProof {
  readonly dataDir: string;
  readonly passphrase: string | undefined;
}

/** Opens a copy of a backup as a test. Returns its manifest, and whether it is of the server whose secret is known. */
export async function rehearseRestore(
  from: string,
  { dataDir, passphrase }: OriginProof,
): Promise<{ readonly manifest: Manifest; readonly isVerified: boolean }> {
  const manifest = await checkBackup(from);
  const secret = passphrase === undefined ? readableSecret(dataDir) : secretIn(from, passphrase);
  const folder = mkdtempSync(join(tmpdir(), 'zomma-rehearsal-'));
  try {
    copyFileSync(join(from, DATABASE), join(folder, DATABASE));
    openStore(join(folder, DATABASE), Date.now).close();
    return { manifest, isVerified: secret !== undefined && isSignedWith(manifest, secret) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Restores a backup into a data folder. The folder may have a secret. Throws `OperatorError` if the folder has other data, if a server runs
 * on the folder, or if nothing proves who made the backup and `isUnverified` is false.
 */
export async function restoreData(
  from: string,
  { dataDir, passphrase, isUnverified }: OriginProof & { readonly isUnverified: boolean },
): Promise<{ manifest: Manifest; hasSecret: boolean }> {
  const manifest = await checkBackup(from);
  using _lock = lockData(dataDir);
  refuseMigrationDraft(dataDir);
  const own = existsSync(join(dataDir, 'secret')) ? loadSecret(dataDir, 1) : undefined;
  const included = secretIn(from, passphrase);
  if (hasData(dataDir) || (own && included && !Buffer.from(own).equals(included))) {
    throw new OperatorError(
      `${dataDir} has data already`,
      'Restore into a new folder, and give it to the server with --data-dir.',
    );
  }
  const secret = included ?? own;
  const isVerified = secret !== undefined && isSignedWith(manifest, secret);
  if (!isVerified && !isUnverified) {
    throw new OperatorError(
      `nothing proves who made ${from}: ${secret ? 'the secret did not sign it' : 'there is no secret to compare'}`,
      `Copy the file "secret" of the earlier data folder into ${dataDir} first, or give --unverified if nobody else could change the backup.`,
    );
  }
  restoreDatabase(from, join(dataDir, DATABASE));
  if (included && !own) storeSecret(dataDir, included);
  const parts = [
    `the backup of ${manifest.made_at}`,
    `${included ? 'with' : 'without'} the secret`,
    ...(isVerified ? [] : ['origin not verified']),
    `members: ${manifest.rows.members ?? 0}`,
  ];
  saveAuditIn(join(dataDir, DATABASE), auditEntryOf({ action: 'restored', detail: parts.join(', ') }, Date.now()));
  return { manifest, hasSecret: secret !== undefined };
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

function requireData(dataDir: string): void {
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
