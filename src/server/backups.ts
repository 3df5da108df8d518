import {
  closeSync,
  copyFileSync,
  existsSync,
  fchownSync,
  futimesSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../package.json';
import { auditEntryOf } from '../access/audit.ts';
import { refuseForeignRoot } from '../access/data-owner.ts';
import { loadSecret, storeSecret } from '../access/secret.ts';
import { OperatorError } from '../core/errors.ts';
import { saveAuditIn } from '../store/audit-table.ts';
import {
  DATABASE,
  isSignedWith,
  type Manifest,
  makeBackup,
  restoreDatabase,
  secretIn,
} from '../store/folder/backup.ts';
import { type CheckedBackup, type ChoiceOptions, chooseBackup } from '../store/folder/backup-series.ts';
import { refuseMigrationDraft } from '../store/folder/migration-draft.ts';
import { openStore } from '../store/sqlite.ts';
import { copyInChild } from './database-copier.ts';
import { databaseIn, hasData, lockData, presentSecret, requireData, rotatingError } from './stored-data.ts';

/** Name of a file in the data folder. The file's modification time is the moment of the data in the last backup. */
const LAST_BACKUP = 'last-backup';

export interface BackUpOptions {
  readonly passphrase: string | undefined;
  /** Ends the backup early. Nothing of it remains then. */
  readonly signal: AbortSignal;
}

/**
 * Backs up a data folder to a new folder. With a passphrase, the backup includes the encrypted secret. A server may use the folder.
 * `isRecorded` is false if the data folder does not know of the backup.
 */
export async function backUpData(
  dataDir: string,
  to: string,
  { passphrase, signal }: BackUpOptions,
): Promise<{ readonly manifest: Manifest; readonly isRecorded: boolean }> {
  requireData(dataDir);
  const nowMs = Date.now();
  const path = join(dataDir, DATABASE);
  const secret = passphrase === undefined ? readableSecret(dataDir) : presentSecret(dataDir);
  if (passphrase !== undefined) {
    // Each copy of the secret gets an audit entry in advance, so that no copy lacks an entry.
    refuseForeignRoot(dataDir);
    saveAuditIn(path, auditEntryOf({ action: 'secret_backed_up' }, nowMs));
  }
  const copy = (database: string, file: string) => copyInChild(database, file, signal);
  const manifest = await makeBackup(path, to, { version, nowMs, copy, signal, secret, passphrase });
  // A rotation during the copy leaves a backup whose secret may not fit its members.
  if (passphrase !== undefined && !Buffer.from(presentSecret(dataDir)).equals(secret!)) {
    rmSync(to, { recursive: true });
    throw rotatingError();
  }
  return { manifest, isRecorded: recordBackup(dataDir, nowMs) };
}

/** Returns the secret of a data folder, or undefined if there is none, or if this user may not read it. */
function readableSecret(dataDir: string): Uint8Array | undefined {
  try {
    return existsSync(join(dataDir, 'secret')) ? loadSecret(dataDir, 1) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the moment of a backup into the data folder, where the metrics of the server and `zomma check` read it. The file has the owner of the
 * folder, even if root makes the backup. The new file replaces the earlier one, so root never writes to a file that a link names. Returns
 * false if this user may not write to the folder.
 */
function recordBackup(dataDir: string, atMs: number): boolean {
  const path = join(dataDir, LAST_BACKUP);
  const draft = `${path}.${process.pid}.partial`;
  try {
    const { uid, gid } = statSync(dataDir);
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, `${new Date(atMs).toISOString()}\n`);
      if (process.geteuid?.() === 0) fchownSync(file, uid, gid);
      // What was stored since then is not in the backup, which may take minutes.
      futimesSync(file, atMs / 1_000, atMs / 1_000);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the moment of the data in a data folder's last backup, ms since the epoch. Returns undefined if no backup was made. */
export function lastBackupMs(dataDir: string): number | undefined {
  return statSync(join(dataDir, LAST_BACKUP), { throwIfNoEntry: false })?.mtimeMs;
}

/** What proves who made a backup: the secret of a data folder, or the passphrase of the secret in the backup. */
export interface OriginProof {
  readonly dataDir: string;
  readonly passphrase: string | undefined;
}

/**
 * Opens a copy of a backup, or of the newest one in a folder, as a test. Says whether it is of the server whose secret is known. Throws
 * `OperatorError` if the backup is not whole.
 */
export async function rehearseRestore(
  from: string,
  { dataDir, passphrase }: OriginProof,
): Promise<CheckedBackup & { readonly isVerified: boolean }> {
  const { path, manifest } = await chooseBackup(from, {});
  const secret = passphrase === undefined ? readableSecret(dataDir) : secretIn(path, passphrase);
  const folder = mkdtempSync(join(tmpdir(), 'zomma-rehearsal-'));
  try {
    copyFileSync(join(path, DATABASE), join(folder, DATABASE));
    openStore(join(folder, DATABASE), Date.now).close();
    return { path, manifest, isVerified: secret !== undefined && isSignedWith(manifest, secret) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Restores a backup, or the newest whole one in a folder, into a data folder. The folder may have a secret. Throws `OperatorError` if the
 * folder has other data, if a server runs on the folder, or if nothing proves who made the backup and `isUnverified` is false.
 */
export async function restoreData(
  from: string,
  {
    dataDir,
    passphrase,
    isUnverified,
    onSkipped,
  }: OriginProof & Pick<ChoiceOptions, 'onSkipped'> & { readonly isUnverified: boolean },
): Promise<CheckedBackup & { readonly hasSecret: boolean }> {
  databaseIn({ dataDir, store: 'sqlite' });
  const own = existsSync(join(dataDir, 'secret')) ? loadSecret(dataDir, 1) : undefined;
  // A backup is checked for minutes, so a folder with data is refused before.
  if (hasData(dataDir)) requireEmpty(dataDir).release();
  const { path, manifest } = await chooseBackup(from, { secret: own, onSkipped });
  const included = secretIn(path, passphrase);
  if (own && included && !Buffer.from(own).equals(included)) throw nonEmpty(dataDir);
  const secret = included ?? own;
  const isVerified = secret !== undefined && isSignedWith(manifest, secret);
  if (!isVerified && !isUnverified) {
    throw new OperatorError(
      `nothing proves who made ${path}: ${secret ? 'the secret did not sign it' : 'there is no secret to compare'}`,
      `Copy the file "secret" of the earlier data folder into ${dataDir} first, or give --unverified if nobody else could change the backup.`,
    );
  }
  // The lock creates a missing folder, so a backup is refused before.
  using _lock = requireEmpty(dataDir);
  restoreDatabase(path, join(dataDir, DATABASE));
  if (included && !own) storeSecret(dataDir, included);
  const parts = [
    `the backup of ${manifest.made_at}`,
    `${included ? 'with' : 'without'} the secret`,
    ...(isVerified ? [] : ['origin not verified']),
    `members: ${manifest.rows.members ?? 0}`,
  ];
  saveAuditIn(join(dataDir, DATABASE), auditEntryOf({ action: 'restored', detail: parts.join(', ') }, Date.now()));
  return { path, manifest, hasSecret: secret !== undefined };
}

/** Locks a data folder without a database. Throws `OperatorError` if a server runs on it, or if it has one. */
function requireEmpty(dataDir: string): ReturnType<typeof lockData> {
  refuseMigrationDraft(dataDir);
  const lock = lockData(dataDir);
  if (!hasData(dataDir)) return lock;
  lock.release();
  throw nonEmpty(dataDir);
}

function nonEmpty(dataDir: string): OperatorError {
  return new OperatorError(
    `${dataDir} has data already`,
    'Restore into a new folder, and give it to the server with --data-dir.',
  );
}
