import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cleanLine } from './clean-text.ts';
import type { CheckOutcome } from './cli/ports.ts';
import type { SettingValues } from './config.ts';
import { createFeeds } from './create-feeds.ts';
import { errorCode, OperatorError } from './errors.ts';
import { formatBytes } from './feeds/data-room.ts';
import { descriptorsMax } from './http/connections/own-sockets.ts';
import { readTls } from './http/tls.ts';
import { DAY_MS } from './market/calendar.ts';
import { AHEAD_MS } from './market/market.ts';
import { COMPILER_HINT, isWithoutCompiler, kernelNsPerOption } from './math/kernel-speed.ts';
import { feedReport } from './operations/feed-status.ts';
import { DATABASE } from './store/backup.ts';
import { lockHolder } from './store/folder-lock.ts';
import type { Store } from './store/sqlite.ts';
import { SCHEMA } from './store/upgrade.ts';
import { createContext, diskUse, hasData, lastBackupMs, openData, readSecret, readUniverse } from './stored-data.ts';

export interface CheckOptions {
  readonly settings: SettingValues;
  readonly nowMs: number;
  /** True if the whole database is read: its pages, and the checksum of each snapshot. */
  readonly isThorough: boolean;
  /** Called with the number of snapshots that were read, and with the number of all. */
  readonly onProgress: (read: number, of: number) => void;
}

const BACKUP_AGE_MAX_MS = 8 * DAY_MS;
const CERTIFICATE_DAYS_MIN = 30;
const DISK_DAYS_MIN = 30;
const DESCRIPTORS_MIN = 4_096;

/** Checks an installation: the data folder, the database, the disk, the clock, the feeds, the certificate, the port and the runtime. */
export async function* runChecks(options: CheckOptions): AsyncGenerator<CheckOutcome> {
  const { settings } = options;
  const holder = hasData(settings.dataDir) ? lockHolder(settings.dataDir) : undefined;
  yield* checkData(options, holder);
  yield collected('universe', () => `${readUniverse(settings.universe).tickers.size} tickers`);
  yield feedSettings(settings);
  yield certificate(options);
  if (holder === undefined) yield await port(settings);
  yield await runtime();
  yield descriptors();
}

/** Runs a check that returns a message. A failure has the message and the hint of the error. */
function collected(of: string, check: () => string): CheckOutcome {
  try {
    return { of, state: 'ok', message: check() };
  } catch (error) {
    return failureOf(of, error);
  }
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
  let store: Store;
  try {
    store = openData(dataDir, 'read', {
      warn() {
        isOpen = true;
      },
    });
  } catch (error) {
    yield failureOf('database', error);
    return;
  }
  try {
    yield isOpen
      ? {
          of: 'data folder',
          state: 'warning',
          message: `the group of ${dataDir} may write to it`,
          hint: `Run chmod g-w ${dataDir}.`,
        }
      : { of: 'data folder', state: 'ok', message: dataDir };
    yield holder === undefined
      ? { of: 'server', state: 'ok', message: 'no server runs on the data folder' }
      : { of: 'server', state: 'ok', message: `process ${holder} serves the data folder` };
    yield secret(store, dataDir);
    yield* database(store, options);
    yield* feeds(store, options, holder !== undefined);
    yield clock(store, options);
    yield disk(store, options);
    yield backup(options);
  } finally {
    store.close();
  }
}

function secret(store: Store, dataDir: string): CheckOutcome {
  const members = store.members().length;
  return collected('secret', () => {
    if (!existsSync(join(dataDir, 'secret')) && members === 0) return 'none yet, and no members';
    readSecret(store, dataDir);
    return `${members} ${members === 1 ? 'member' : 'members'}`;
  });
}

function* database(store: Store, { settings, isThorough, onProgress }: CheckOptions): Generator<CheckOutcome> {
  const { database: bytes, wal } = diskUse(settings.dataDir);
  const size = `schema ${SCHEMA}, ${formatBytes(bytes + wal)}`;
  const restore = 'Restore a backup with `zomma restore`.';
  if (isThorough) {
    const problems = store.integrityProblems();
    yield problems.length === 0
      ? { of: 'database', state: 'ok', message: `${size}, every page is sound` }
      : {
          of: 'database',
          state: 'failure',
          message: `${DATABASE} is damaged: ${cleanLine(problems[0]!)}`,
          hint: restore,
        };
    if (problems.length > 0) return;
  } else yield { of: 'database', state: 'ok', message: `${size}, not read (--quick)` };
  const damaged = store
    .damagedSnapshots()
    .map(({ underlying, asOf }) => `${underlying} ${new Date(asOf).toISOString()}`);
  let read = 0;
  if (isThorough) {
    for (const { underlying, asOf, isDamaged } of store.checkSnapshots()) {
      if (isDamaged) damaged.push(`${underlying} ${new Date(asOf).toISOString()}`);
      onProgress(++read, store.snapshotCount());
    }
  }
  yield damaged.length === 0
    ? {
        of: 'snapshots',
        state: 'ok',
        message: isThorough ? `${read} snapshots, every checksum is right` : 'none was found damaged',
      }
    : {
        of: 'snapshots',
        state: 'warning',
        message: `${damaged.length} damaged: ${cleanLine(damaged.slice(0, 5).join(', '))}${damaged.length > 5 ? ' …' : ''}`,
        hint: 'They are served past. Ingest them again from their files, or remove them with `zomma chains forget`.',
      };
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
    // Without a server, every feed is down.
    const isWell = state === 'ok' || !isServed;
    yield {
      of: 'feed',
      state: isWell ? 'ok' : 'warning',
      message,
      ...(isWell ? {} : { hint: '`zomma feeds` shows why.' }),
    };
  }
}

/** Compares the clock with the newest stored data. */
function clock(store: Store, { nowMs }: CheckOptions): CheckOutcome {
  const newest = store.dataSpan('chains', Number.MAX_SAFE_INTEGER)?.toMs;
  const now = new Date(nowMs).toISOString();
  if (newest === undefined || newest <= nowMs + AHEAD_MS) return { of: 'clock', state: 'ok', message: now };
  return {
    of: 'clock',
    state: 'warning',
    message: `the newest data is dated ${new Date(newest).toISOString()}, and the clock says ${now}`,
    hint: 'Set the clock by NTP. If it was ahead when the data was stored, remove that data with `zomma chains forget`.',
  };
}

/** Compares the free disk with the pace at which the database has grown. */
function disk(store: Store, { settings, nowMs }: CheckOptions): CheckOutcome {
  const { database: bytes, free } = diskUse(settings.dataDir);
  const span = store.dataSpan('chains', nowMs);
  const days = span ? (span.toMs - span.fromMs) / DAY_MS : 0;
  const free_ = `${formatBytes(free)} free`;
  // A database of a few hours says nothing about the pace.
  if (days < 1) return { of: 'disk', state: 'ok', message: free_ };
  const lasts = Math.floor(free / (bytes / days));
  const message = `${free_}; at ${formatBytes(bytes / days)} a day, enough for ${lasts} days`;
  return lasts >= DISK_DAYS_MIN
    ? { of: 'disk', state: 'ok', message }
    : {
        of: 'disk',
        state: 'warning',
        message,
        hint: 'Set a retention (--keep-chains, --keep-intraday, --keep-prints), or add disk.',
      };
}

function backup({ settings, nowMs }: CheckOptions): CheckOutcome {
  const last = lastBackupMs(settings.dataDir);
  const hint = 'Run `zomma backup` each day, for example with a timer of systemd.';
  if (last === undefined) return { of: 'backup', state: 'warning', message: 'none was made', hint };
  const message = `the last one was made at ${new Date(last).toISOString()}`;
  return nowMs - last <= BACKUP_AGE_MAX_MS
    ? { of: 'backup', state: 'ok', message }
    : { of: 'backup', state: 'warning', message, hint };
}

function feedSettings(settings: SettingValues): CheckOutcome {
  return collected('feeds', () => {
    createFeeds({ ...settings, setAside: undefined }, readUniverse(settings.universe), () => new Map());
    return `--feed ${settings.feed}`;
  });
}

function certificate({ settings, nowMs }: CheckOptions): CheckOutcome {
  const { tlsCert, tlsKey, tlsClientCa, tls, host } = settings;
  if (tls === 'internal')
    return { of: 'certificate', state: 'ok', message: 'made and renewed by the server (--tls internal)' };
  if (tlsCert === undefined || tlsKey === undefined)
    return { of: 'certificate', state: 'ok', message: `none: plain HTTP on ${host}` };
  try {
    const { subject, notAfterMs } = readTls({ cert: tlsCert, key: tlsKey, clientCa: tlsClientCa });
    const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
    const message = `${cleanLine(subject)}, ${days < 0 ? 'expired' : 'valid'} until ${new Date(notAfterMs).toISOString()}`;
    if (days >= CERTIFICATE_DAYS_MIN) return { of: 'certificate', state: 'ok', message };
    const hint = 'Renew the certificate. A running server takes the new files into use by itself.';
    return { of: 'certificate', state: days < 0 ? 'failure' : 'warning', message, hint };
  } catch (error) {
    if (error instanceof OperatorError) return failureOf('certificate', error);
    throw error;
  }
}

/** Tries to listen on the address of the server, while no server runs. */
async function port({ host, port: wanted }: SettingValues): Promise<CheckOutcome> {
  const { promise, resolve } = Promise.withResolvers<CheckOutcome>();
  const server = createServer();
  server.once('error', (error) => {
    const hint =
      errorCode(error) === 'EADDRINUSE' ? 'Another program uses the port.' : 'CheckOutcome --host and --port.';
    resolve({ of: 'port', state: 'failure', message: cleanLine(error.message), hint });
  });
  server.listen({ host, port: wanted }, () => {
    server.close(() => resolve({ of: 'port', state: 'ok', message: `${host}:${wanted} is free` }));
  });
  return promise;
}

async function runtime(): Promise<CheckOutcome> {
  const ns = Math.round(await kernelNsPerOption());
  const message = `${ns} ns for the Greeks of an option`;
  return isWithoutCompiler(ns)
    ? {
        of: 'compiler',
        state: 'warning',
        message: `${message}: the runtime runs without its compiler`,
        hint: COMPILER_HINT,
      }
    : { of: 'compiler', state: 'ok', message };
}

function descriptors(): CheckOutcome {
  const most = descriptorsMax();
  const message = `${most} files and connections at once`;
  return most >= DESCRIPTORS_MIN
    ? { of: 'descriptors', state: 'ok', message }
    : {
        of: 'descriptors',
        state: 'warning',
        message,
        hint: 'Raise the limit: LimitNOFILE= in the unit, or ulimit -n.',
      };
}
