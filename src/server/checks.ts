import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cleanLine } from '../core/clean-text.ts';
import { errorCode } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { formatBytes } from '../feeds/disk-space.ts';
import { descriptorsMax } from '../http/connections/own-sockets.ts';
import { readTls } from '../http/tls.ts';
import { DAY_MS } from '../market/calendar.ts';
import { AHEAD_MS } from '../market/market.ts';
import { COMPILER_HINT, isWithoutCompiler, kernelNsPerOption } from '../math/kernel-speed.ts';
import { feedReport } from '../operations/feed-status.ts';
import { OPEN_OPS_HINT } from '../ops/ops-server.ts';
import type { SettingValues } from '../settings/config.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { lockHolder } from '../store/folder/folder-lock.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { Store } from '../store/sqlite.ts';
import { lastBackupMs } from './backups.ts';
import { settingFaults } from './setting-faults.ts';
import {
  createContext,
  diskUse,
  FOREIGN_SECRET_HINT,
  hasData,
  openAccess,
  openData,
  readSecret,
  readUniverse,
} from './stored-data.ts';

/** The outcome of one check of an installation. */
export interface CheckOutcome {
  /** The subject of the check, in one or two words. */
  readonly of: string;
  readonly state: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** The recommended action, if there is one. */
  readonly hint?: string;
}

export interface CheckOptions {
  readonly settings: SettingValues;
  readonly nowMs: number;
  /** True if the check reads all pages of the database and the checksums of all snapshots. */
  readonly isThorough: boolean;
  /** Called with the number of snapshots that have been read, and with the total number of snapshots. */
  readonly onProgress: (read: number, of: number) => void;
}

const BACKUP_AGE_MAX_MS = 8 * DAY_MS;
const CERTIFICATE_DAYS_MIN = 30;
const DISK_DAYS_MIN = 30;
const DESCRIPTORS_MIN = 4_096;
/** Maximum number of damaged snapshots that the message names. */
const DAMAGED_SHOWN_MAX = 5;

const NOT_CHECKED = 'a database that servers share is not checked yet';
const NOT_CHECKED_HINT = 'The metrics zomma_cluster_... of each server and the log of Postgres tell how it is.';

/** Checks an installation: the data folder, the database, the disk, the clock, the feeds, the certificate, the port and the runtime. */
export async function* runChecks(options: CheckOptions): AsyncGenerator<CheckOutcome> {
  const { settings } = options;
  const holder = hasData(settings.dataDir) ? lockHolder(settings.dataDir) : undefined;
  const faults = settingFaults(settings);
  const isWell = (subject: string) => faults.every(({ of }) => of !== subject);
  // The other checks also run if the universe file is unusable, because they need no universe.
  const usable = isWell('universe') ? settings : { ...settings, universe: undefined };
  if (isWell('universe'))
    yield { of: 'universe', state: 'ok', message: `${readUniverse(settings.universe).tickers.size} tickers` };
  if (settings.store === 'sqlite') yield* checkData({ ...options, settings: usable }, holder);
  else yield { of: 'database', state: 'warning', message: NOT_CHECKED, hint: NOT_CHECKED_HINT };
  if (isWell('feeds')) yield { of: 'feeds', state: 'ok', message: `--feed ${settings.feed}` };
  if (isWell('certificate')) yield await certificate(options);
  for (const { of, error } of faults) yield failureOf(of, error);
  if (holder === undefined) yield await port(settings);
  if (settings.ops) {
    const { host, port } = settings.ops;
    yield graded('operations', isLoopback(host), `--ops ${host}:${port}`, OPEN_OPS_HINT);
  }
  yield await compiler();
  yield descriptors();
}

/** Returns a good outcome without a hint if the condition holds, and a bad outcome with the hint otherwise. */
function graded(
  of: string,
  isWell: boolean,
  message: string,
  hint: string,
  otherwise: 'warning' | 'failure' = 'warning',
): CheckOutcome {
  return isWell ? { of, state: 'ok', message } : { of, state: otherwise, message, hint };
}

function failureOf(of: string, error: unknown): CheckOutcome {
  const { message, hint } = error as Error & { hint?: string };
  return { of, state: 'failure', message: cleanLine(message), ...(hint && { hint }) };
}

async function* checkData(options: CheckOptions, holder: number | 'unknown' | undefined): AsyncGenerator<CheckOutcome> {
  const { dataDir } = options.settings;
  if (!hasData(dataDir)) {
    const hint = 'A server creates its folder. Name the folder of an existing server with --data-dir.';
    yield { of: 'data folder', state: 'warning', message: `${dataDir} has no data of Zomma`, hint };
    return;
  }
  let isOpen = false;
  let opened: Store & Disposable;
  try {
    opened = openData(dataDir, 'read', {
      warn() {
        isOpen = true;
      },
    });
  } catch (error) {
    yield failureOf('database', error);
    return;
  }
  using store = opened;
  const folder = isOpen ? `the group of ${dataDir} may write to it` : dataDir;
  yield graded('data folder', !isOpen, folder, `Run chmod g-w ${dataDir}.`);
  const server = holder === undefined ? 'no server runs on' : `process ${holder} serves`;
  yield { of: 'server', state: 'ok', message: `${server} the data folder` };
  yield secret(store, dataDir);
  yield* database(store, options);
  yield* feeds(store, options, holder !== undefined);
  yield clock(store, options);
  yield disk(store, options);
  yield backup(options);
}

function secret(store: Store, dataDir: string): CheckOutcome {
  const members = store.members().length;
  if (members === 0 && !existsSync(join(dataDir, 'secret')))
    return { of: 'secret', state: 'ok', message: 'none yet, and no members' };
  try {
    readSecret(store, dataDir);
    const isOwn = openAccess(store, dataDir).isSecretOfMembers();
    const count = `${members} ${members === 1 ? 'member' : 'members'}`;
    return graded(
      'secret',
      isOwn,
      isOwn ? count : 'it gives no member the key that the member has',
      FOREIGN_SECRET_HINT,
    );
  } catch (error) {
    return failureOf('secret', error);
  }
}

function* database(store: Store, { settings, isThorough, onProgress }: CheckOptions): Generator<CheckOutcome> {
  const { database: bytes, wal } = diskUse(settings.dataDir);
  const size = `schema ${SCHEMA}, ${formatBytes(bytes + wal)}`;
  const [problem] = isThorough ? store.integrityProblems() : [];
  const read = isThorough ? 'every page is sound' : 'not read (--quick)';
  yield graded(
    'database',
    problem === undefined,
    problem === undefined ? `${size}, ${read}` : `${DATABASE} is damaged: ${cleanLine(problem)}`,
    'Restore a backup with `zomma restore`.',
    'failure',
  );
  if (problem === undefined) yield snapshots(store, isThorough, onProgress);
}

/** Lists damaged snapshots. Only a thorough check reads all of the snapshots. */
function snapshots(store: Store, isThorough: boolean, onProgress: CheckOptions['onProgress']): CheckOutcome {
  const damaged = [...store.damagedSnapshots()];
  const count = store.snapshotCount();
  let read = 0;
  for (const { isDamaged, ...snapshot } of isThorough ? store.checkSnapshots() : []) {
    if (isDamaged) damaged.push(snapshot);
    onProgress(++read, count);
  }
  const named = damaged.slice(0, DAMAGED_SHOWN_MAX).map(({ underlying, asOf }) => `${underlying} ${isoTime(asOf)}`);
  const well = isThorough ? `${read} snapshots, every checksum is right` : 'none was found damaged';
  return graded(
    'snapshots',
    damaged.length === 0,
    damaged.length === 0 ? well : `${damaged.length} damaged, among them ${cleanLine(named.join(', '))}`,
    'The server answers from the snapshots before them. Ingest them again from their files, or remove them with `zomma chains forget`.',
  );
}

function* feeds(store: Store, { settings, nowMs }: CheckOptions, isServed: boolean): Generator<CheckOutcome> {
  const context = createContext(
    settings,
    store,
    readUniverse(settings.universe),
    store.underlyings(false).length === 0,
  );
  for (const { feed, state, error, tickers_by_state } of feedReport({ ...context, nowMs: () => nowMs }).feeds) {
    const tickers = Object.entries(tickers_by_state).map(([each, count]) => `${count} ${each}`);
    const message = [`${feed} is ${state}`, error ?? tickers.join(', ')].filter(Boolean).join(': ');
    // A feed that is down is a fault only if a server runs, because every feed is down while no server runs.
    yield graded('feed', state === 'ok' || !isServed, message, '`zomma feeds` shows why.');
  }
}

/** Compares the clock with the newest stored data. */
function clock(store: Store, { nowMs }: CheckOptions): CheckOutcome {
  const newest = store.dataSpan('chains', Number.MAX_SAFE_INTEGER)?.toMs ?? 0;
  const isWell = newest <= nowMs + AHEAD_MS;
  const step = store.clockSteps().find(({ at, byMs }) => byMs < 0 && Math.abs(nowMs - at) < DAY_MS);
  if (isWell && step) {
    const back = `it was set back by ${Math.round(-step.byMs / 1_000)} s at ${isoTime(step.at)}`;
    return graded('clock', false, back, 'Start the service after the clock is synchronized (After=time-sync.target).');
  }
  return graded(
    'clock',
    isWell,
    isWell ? isoTime(nowMs) : `the newest data is dated ${isoTime(newest)}, and the clock says ${isoTime(nowMs)}`,
    'Set the clock by NTP. If it was ahead when the data was stored, remove that data with `zomma chains forget`.',
  );
}

/** Compares the free disk space with the growth rate of the database. */
function disk(store: Store, { settings, nowMs }: CheckOptions): CheckOutcome {
  const { database: bytes, free } = diskUse(settings.dataDir);
  const span = store.dataSpan('chains', nowMs);
  const days = span ? (span.toMs - span.fromMs) / DAY_MS : 0;
  // The growth rate can be computed only if the stored data covers at least a day.
  if (days < 1) return { of: 'disk', state: 'ok', message: `${formatBytes(free)} free` };
  const lasts = Math.floor(free / (bytes / days));
  return graded(
    'disk',
    lasts >= DISK_DAYS_MIN,
    `${formatBytes(free)} free; grows by ${growthText(bytes / days)} a day, full in ${lasts} days`,
    'Set a retention (--keep-chains, --keep-intraday, --keep-prints), or add disk.',
  );
}

/** Returns an amount of bytes in MB or GB, because growth is compared over time. */
function growthText(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function backup({ settings, nowMs }: CheckOptions): CheckOutcome {
  const last = lastBackupMs(settings.dataDir);
  return graded(
    'backup',
    last !== undefined && nowMs - last <= BACKUP_AGE_MAX_MS,
    last === undefined ? 'none was made' : `the last one was made at ${isoTime(last)}`,
    'Run `zomma backup` each day, for example with a timer of systemd.',
  );
}

async function certificate({ settings, nowMs }: CheckOptions): Promise<CheckOutcome> {
  const { tlsCert, tlsKey, tlsClientCa, tls, host } = settings;
  if (tls === 'internal') return internalCertificate(settings);
  if (tlsCert === undefined || tlsKey === undefined)
    return { of: 'certificate', state: 'ok', message: `none: plain HTTP on ${host}` };
  const { subject, notAfterMs } = readTls({ cert: tlsCert, key: tlsKey, clientCa: tlsClientCa });
  const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
  return graded(
    'certificate',
    days >= CERTIFICATE_DAYS_MIN,
    `${cleanLine(subject)}, ${days < 0 ? 'expired at' : 'valid until'} ${isoTime(notAfterMs)}`,
    'Renew the certificate. A running server uses the new files by itself.',
    days < 0 ? 'failure' : 'warning',
  );
}

async function internalCertificate(settings: SettingValues): Promise<CheckOutcome> {
  const tls = await import('../http/internal-tls.ts');
  const well = 'made and renewed by the server (--tls internal)';
  if (!existsSync(tls.authorityPath(settings.dataDir))) return graded('certificate', true, well, '');
  try {
    const { names } = await tls.readInternalAuthority(settings.dataDir);
    const foreign = tls.foreignNames(settings, names);
    const fault =
      names === null
        ? 'the authority of --tls internal may sign every name, so who gets its key can pass for any site'
        : `the authority of --tls internal may not sign ${foreign.join(', ')}`;
    const isWell = names !== null && foreign.length === 0;
    return graded('certificate', isWell, isWell ? well : fault, tls.NEW_AUTHORITY_HINT);
  } catch (error) {
    return failureOf('certificate', error);
  }
}

/** Tries to listen on the address of the server. The check works only while no server runs. */
async function port({ host, port: wanted }: SettingValues): Promise<CheckOutcome> {
  const { promise, resolve } = Promise.withResolvers<CheckOutcome>();
  const server = createServer();
  server.once('error', (error) => {
    const hint = errorCode(error) === 'EADDRINUSE' ? 'Another program uses the port.' : 'Check --host and --port.';
    resolve({ of: 'port', state: 'failure', message: cleanLine(error.message), hint });
  });
  server.listen({ host, port: wanted }, () => {
    server.close(() => resolve({ of: 'port', state: 'ok', message: `${host}:${wanted} is free` }));
  });
  return promise;
}

async function compiler(): Promise<CheckOutcome> {
  const ns = Math.round(await kernelNsPerOption());
  const isOff = isWithoutCompiler(ns);
  const message = `${ns} ns for the Greeks of an option${isOff ? ': the runtime runs without its compiler' : ''}`;
  return graded('compiler', !isOff, message, COMPILER_HINT);
}

function descriptors(): CheckOutcome {
  const most = descriptorsMax();
  const hint = 'Raise the limit: LimitNOFILE= in the unit, or ulimit -n.';
  return graded('descriptors', most >= DESCRIPTORS_MIN, `${most} files and connections at once`, hint);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
