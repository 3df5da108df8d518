import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cleanLine } from '../core/clean-text.ts';
import { formatBytes } from '../feeds/disk-space.ts';
import { DAY_MS } from '../market/calendar.ts';
import { AHEAD_MS } from '../market/market.ts';
import { feedReport } from '../operations/feed-status.ts';
import type { SettingValues } from '../settings/config.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { COPY_ANEW_HINT, MIRROR } from '../store/mirror-file.ts';
import type { Store } from '../store/sqlite.ts';
import { lastBackupMs } from './backups.ts';
import { type CheckOptions, type CheckOutcome, failureOf, graded, isoTime } from './check-outcome.ts';
import {
  createContext,
  databaseIn,
  diskUse,
  foreignSecretHint,
  hasData,
  openAccess,
  openStored,
  readSecret,
  readUniverse,
} from './stored-data.ts';

const BACKUP_AGE_MAX_MS = 8 * DAY_MS;
const DISK_DAYS_MIN = 30;
/** Maximum number of damaged snapshots that the message names. */
const DAMAGED_SHOWN_MAX = 5;

/** Checks a data folder: its database, or its copy of the database that servers share. `holder` is the process that serves the folder. */
export function* checkData(options: CheckOptions, holder: number | 'unknown' | undefined): Generator<CheckOutcome> {
  const { settings } = options;
  const { dataDir } = settings;
  let isOpen = false;
  let opened: Store & Disposable;
  try {
    opened = openStored(settings, () => {
      isOpen = true;
    });
  } catch (error) {
    const isMissing = ![DATABASE, MIRROR].some((file) => hasData(dataDir, file));
    yield isMissing ? { ...failureOf('data folder', error), state: 'warning' } : failureOf('database', error);
    return;
  }
  using store = opened;
  const folder = isOpen ? `the group of ${dataDir} may write to it` : dataDir;
  yield graded('data folder', !isOpen, folder, `Run chmod g-w ${dataDir}.`);
  const server = holder === undefined ? 'no server runs on' : `process ${holder} serves`;
  yield { of: 'server', state: 'ok', message: `${server} the data folder` };
  // `checkCluster` compares the secret with that of the other servers.
  if (settings.store === 'sqlite') yield secret(store, settings);
  yield* database(store, options);
  yield* feeds(store, options, holder !== undefined);
  yield clock(store, options);
  yield disk(store, options);
  if (settings.store === 'sqlite') yield backup(options);
}

function secret(store: Store, { dataDir, store: at }: SettingValues): CheckOutcome {
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
      foreignSecretHint({ store: at }),
    );
  } catch (error) {
    return failureOf('secret', error);
  }
}

function* database(store: Store, { settings, isThorough, onProgress }: CheckOptions): Generator<CheckOutcome> {
  const file = databaseIn(settings);
  const { database: bytes, wal } = diskUse(settings.dataDir, file);
  const size = `schema ${SCHEMA}, ${formatBytes(bytes + wal)}`;
  const [problem] = isThorough ? store.integrityProblems() : [];
  const read = isThorough ? 'every page is sound' : 'not read (--quick)';
  yield graded(
    'database',
    problem === undefined,
    problem === undefined ? `${size}, ${read}` : `${file} is damaged: ${cleanLine(problem)}`,
    file === MIRROR ? COPY_ANEW_HINT : 'Restore a backup with `zomma restore`.',
    'failure',
  );
  const mending =
    file === MIRROR
      ? 'A server on the folder reads them from the database again when it needs them.'
      : 'The server answers from the snapshots before them. Ingest them again from their files, or remove them with `zomma chains forget`.';
  if (problem === undefined) yield snapshots(store, { isThorough, onProgress, mending });
}

/** Lists damaged snapshots. Only a thorough check reads all of the snapshots. */
function snapshots(
  store: Store,
  { isThorough, onProgress, mending }: Pick<CheckOptions, 'isThorough' | 'onProgress'> & { readonly mending: string },
): CheckOutcome {
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
    mending,
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
  const { database: bytes, free } = diskUse(settings.dataDir, databaseIn(settings));
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
