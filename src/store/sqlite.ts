import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AuditStore } from '../access/audit.ts';
import { ownership } from '../access/data-owner.ts';
import type { KnownMembers, MemberStore } from '../access/members.ts';
import { diskProblem, OperatorError } from '../core/errors.ts';
import type { Ledger } from '../core/ledger.ts';
import type { FeedLedger, KnownFeeds } from '../market/feed-ledger.ts';
import { PrintBatch } from '../market/print-batch.ts';
import type { DataKey, DataKind, KnownMarket, MarketStore } from '../market/store.ts';
import { auditTable } from './audit-table.ts';
import { closeTable, dividendTable } from './close-table.ts';
import { dataVersions } from './data-versions.ts';
import { feedTable } from './feed-table.ts';
import { SCHEMA, upgrade } from './folder/upgrade.ts';
import { levelLog } from './level-log.ts';
import { levelTable } from './level-table.ts';
import { memberTables } from './member-tables.ts';
import { requireKnown, schemaOf } from './migrations.ts';
import { BUSY_TIMEOUT_MS, openToRead } from './read-only.ts';
import { retention } from './remove-old.ts';
import { chainTable, type OnDamaged } from './snapshot-table.ts';
import { printTable } from './tape/print-table.ts';

/** The functions that read and write all stored data. All data is in one SQLite file, which several processes can open at the same time. */
export interface Store extends MarketStore, FeedLedger, MemberStore, AuditStore, Ledger<Store> {
  /** Reads every page of the file. Returns the problems of the file, or an empty list. */
  integrityProblems(): string[];
  /** Closes the file. A second call does nothing. */
  close(): void;
}

/** What a process may do: `own` creates, upgrades, reads and writes; `write` and `read` need an existing database of the newest schema. */
export type StoreMode = 'own' | 'write' | 'read';

export interface StoreEvents {
  /** Called after an upgrade. `from` is the previous schema of the database. */
  readonly onUpgrade?: ((from: number) => void) | undefined;
  /** Called with each damaged snapshot that is set aside. If there is no callback, reading a damaged snapshot throws an error. */
  readonly onDamaged?: OnDamaged | undefined;
}

/**
 * Opens the store at `path`, or in memory (`:memory:`). The mode `own` creates a file (0600) and folder (0700), and copies before an
 * upgrade. `nowMs` is in ms since the epoch. Throws `OperatorError` if the file is no database, has a wrong schema or cannot be used.
 */
export function openStore(
  path: string,
  nowMs: () => number,
  mode: StoreMode = 'own',
  { onUpgrade, onDamaged }: StoreEvents = {},
): Store {
  let db: Database | undefined;
  try {
    const isOwn = mode === 'own';
    if (isOwn && path !== MEMORY) makePrivate(path);
    db = mode === 'read' ? openToRead(path) : new Database(path, { create: isOwn, readwrite: true, strict: true });
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const schema = schemaOf(db);
    requireKnown(schema);
    if (!isOwn) requireNewest(schema, path);
    if (mode === 'read') db.run('PRAGMA query_only = ON');
    else configure(db);
    const from = isOwn ? upgrade(db, path) : undefined;
    if (from) onUpgrade?.(from);
    return storeOn(db, nowMs, onDamaged);
  } catch (error) {
    db?.close(true);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(...problemOf(path, error), { cause: error });
  }
}

/** Throws `OperatorError` if the schema is not the newest schema. */
function requireNewest(schema: number, path: string): void {
  if (schema === SCHEMA) return;
  throw new OperatorError(
    `${path} has schema ${schema}, and this program needs schema ${SCHEMA}`,
    'Run `zomma upgrade`, or start the server, which upgrades the data too. Both make a copy first.',
  );
}

const MEMORY = ':memory:';

/** Maximum number of reported problems of a damaged file. */
const PROBLEMS_MAX = 10;

/** Pause between two attempts to switch a file to WAL, ms. */
const BUSY_PAUSE_MS = 5;

/** Size to which SQLite truncates the write-ahead log after many writes, bytes. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** Creates the store of an open database. `versions` are the counts of its writes. For `isCopy`, see `chainTable`. */
export function storeOn(
  db: Database,
  nowMs: () => number,
  onDamaged: OnDamaged | undefined,
  versions = dataVersions(db),
  isCopy = false,
): Store {
  const { version, changes, otherChanges, counted, unlisted, uncounted, unchanged, ofFeeds } = versions;
  const chains = chainTable(db, onDamaged, isCopy);
  const prints = printTable(db);
  const closes = closeTable(db);
  const dividends = dividendTable(db);
  const levels = levelTable(db, nowMs);
  const members = memberTables(db);
  const audit = auditTable(db);
  const store: Store = {
    ...{ version, changes, otherChanges },
    ...chains,
    saveChain: (chain) => counted([`snapshots ${chain.underlying}`], () => chains.saveChain(chain)),
    forgetSnapshots: (underlying, asOf) =>
      counted([`snapshots ${underlying}`, `levels ${underlying}`], () => chains.forgetSnapshots(underlying, asOf)),
    ...prints,
    savePrints(given, options) {
      const batch = PrintBatch.of(given);
      return counted(keysOf('prints', batch.contracts, 'underlying'), () => prints.savePrints(batch, options));
    },
    packTape: (...range) => unchanged(prints.packTape(...range)),
    returnFreePages: () => uncounted(prints.returnFreePages),
    ...closes,
    saveCloses: (given) => counted(keysOf('closes', given, 'ticker'), () => closes.saveCloses(given)),
    ...dividends,
    saveDividends: (given) => counted(keysOf('dividends', given, 'ticker'), () => dividends.saveDividends(given)),
    ...levels,
    ...levelLog(db),
    // Without a record, the underlying is not known, so the write counts as any other write. The case is rare.
    saveLevels: (snapshotId, record) =>
      record
        ? counted([`levels ${record.underlying}`], () => levels.saveLevels(snapshotId, record))
        : levels.saveLevels(snapshotId, record),
    fillHorizons: (snapshotId, record) =>
      record
        ? counted([`levels ${record.underlying}`], () => levels.fillHorizons(snapshotId, record))
        : levels.fillHorizons(snapshotId, record),
    ...feedLedger(db, ofFeeds, () => `${otherChanges()} ${changes('feeds')}`),
    ...retention(db),
    ...members,
    saveMember: (member) => unlisted(() => members.saveMember(member)),
    saveTelegramLink: (uuid, link) => unlisted(() => members.saveTelegramLink(uuid, link)),
    ...audit,
    saveAudit: (entry) => uncounted(() => audit.saveAudit(entry)),
    markAuditLogged: (id) => uncounted(() => audit.markAuditLogged(id)),
    transaction: (work) => db.transaction(() => atOnce(work)).immediate(),
    write: async (work) => store.transaction(() => work(store)),
    integrityProblems: () =>
      db
        .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
        .all()
        .map(({ integrity_check }) => integrity_check)
        .filter((problem) => problem !== 'ok'),
    // close(true) also finalizes the statements. With close(), the file would stay open until the statements are garbage-collected.
    close: () => db.close(true),
  };
  return store;
}

/** The stored data as a service uses it: what is known is read at once, and the ledger decides the writes. */
export type SharedStore = KnownMarket &
  KnownFeeds &
  KnownMembers &
  Pick<AuditStore, 'auditSince' | 'unloggedAudit'> &
  Pick<Store, 'integrityProblems' | 'close'> &
  Ledger<Store>;

/** Returns the keys of some rows' data, without duplicates. `field` is the field of a row with the underlying. */
function keysOf<Field extends string>(kind: DataKind, rows: readonly Record<Field, string>[], field: Field): DataKey[] {
  return [...new Set(rows.map((row) => row[field]))].map((underlying) => `${kind} ${underlying}` as const);
}

/** Creates the functions of the feeds' state, which change no version of the market data. `versionOf` changes with each write. */
function feedLedger(
  db: Database,
  ofFeeds: ReturnType<typeof dataVersions>['ofFeeds'],
  versionOf: () => string,
): FeedLedger {
  const { checkpoints, gapsIn, feedStates, clockSteps, connection, ...writes } = feedTable(db);
  /** Reads only what has changed. During a transaction, always reads, because a transaction may be undone, which changes no version. */
  const held = <Read>(read: () => Read): (() => Read) => {
    let last: { readonly version: string; readonly data: Read } | undefined;
    return () => {
      if (db.inTransaction) return read();
      const version = versionOf();
      if (last?.version !== version) last = { version, data: read() };
      return last.data;
    };
  };
  const wrapped = Object.entries(writes).map(([name, write]) => [
    name,
    (...given: unknown[]) => ofFeeds(['feeds'], () => (write as (...given: unknown[]) => unknown)(...given)),
  ]);
  return {
    ...{ checkpoints, gapsIn, feedStates: held(feedStates), clockSteps: held(clockSteps) },
    ...(Object.fromEntries(wrapped) as typeof writes),
    connection: (...given) => ofFeeds(['feeds', 'gaps'], () => connection(...given)),
  };
}

/** Returns the result of `work`. Throws `TypeError` if it is a promise, because the transaction would be committed too early. */
function atOnce<T>(work: () => T): T {
  const result = work();
  if (result instanceof Promise) throw new TypeError('a transaction cannot await');
  return result;
}

/**
 * Sets the options of a connection. With WAL, readers continue while one process writes. With FULL, each commit syncs the log, because a
 * power cut must not undo the revocation of a member. Data arrives in few large transactions, so syncs take little time.
 */
export function configure(db: Database): void {
  // The option auto_vacuum affects only new files. With auto_vacuum, pages that packing frees can be returned to the disk.
  db.run('PRAGMA auto_vacuum = INCREMENTAL');
  switchToWal(db);
  db.run('PRAGMA synchronous = FULL');
  db.run('PRAGMA foreign_keys = ON');
  db.run(`PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`);
}

/** Switches a file to WAL permanently. Tries repeatedly, because SQLite does not wait if two processes switch a file at the same time. */
function switchToWal(db: Database): void {
  const deadlineMs = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      db.run('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      const busy = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY');
      if (!busy || performance.now() > deadlineMs) throw error;
      Bun.sleepSync(BUSY_PAUSE_MS);
    }
  }
}

/** Lets only the owner read and write the database file. Creates the file if it does not exist. Log files get the same mode. */
export function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    // Changes the mode by path. Closing a descriptor of the file would release the locks of this process's other connections.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

/** Returns a message and a hint about a problem with a database file. The message quotes SQLite or the operating system. */
function problemOf(path: string, error: unknown): [message: string, hint: string] {
  const reason = [diskProblem(error)?.reason, (error as Error).message].filter(Boolean).join(': ');
  const whose = ownership(path) || ownership(dirname(path));
  return [`cannot open the database ${path}: ${[reason, whose].filter(Boolean).join('; ')}`, hintFor(error, whose)];
}

function hintFor(error: unknown, whose: string): string {
  const problem = diskProblem(error);
  if (problem) return problem.hint;
  if (whose) return 'Run the command as the owner of the data folder, or change the owner of the files with chown.';
  return 'Check that the folder exists, that this user may write to it, and that the disk has free space.';
}
