import { Database } from 'bun:sqlite';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { engineUrl } from '../cluster/join-cluster.ts';
import { openClusterOrigin, openClusterTarget } from '../cluster/migration-sides.ts';
import { type Engine, openEngine } from '../cluster/postgres-engine.ts';
import { OperatorError, SettingError } from '../core/errors.ts';
import { type ComparedTable, compareRows } from '../store/compare-rows.ts';
import { type CopyOrigin, type CopyTarget, copyRows } from '../store/copy-rows.ts';
import { DATABASE } from '../store/folder/backup.ts';
import { finishDraft, openMigrationDraft } from '../store/folder/migration-draft.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { MIRROR } from '../store/mirror-file.ts';
import { sqliteRows, type TableRows } from '../store/table-rows.ts';
import { hasData, lockData, openData, presentSecret } from './stored-data.ts';

export interface MigrationRequest {
  /** A data folder and the URL of a Postgres database, in either order. */
  readonly from: string;
  readonly to: string;
  readonly storePassword: string | undefined;
}

/** The steps of a migration: all rows are copied, and then compared. */
export type MigrationStep = 'copying' | 'comparing';

export interface MigrationEvents {
  /** Called at the start of each step, with what an earlier run has left. */
  readonly onStep: (step: MigrationStep, left?: CopyTarget['left']) => void;
  /** Called with the bytes done so far, the bytes of all, which is an estimate, and the rows that this run has done. */
  readonly onProgress: (bytes: number, ofBytes: number, rows: number) => void;
}

export interface MigrationReport {
  /** Undefined if an earlier run has completed the migration. */
  readonly tables: readonly ComparedTable[] | undefined;
  readonly bytes: number;
  /** Whether the data folder that the migration has filled lacks the secret. */
  readonly needsSecret: boolean;
}

/**
 * Migrates all data of a data folder into a Postgres database, or of such a database into a data folder. No server may use either. An interrupted
 * migration goes on. Throws `OperatorError` if it cannot be done. If the rows differ after the copy, the target does not become usable.
 */
export async function migrateData(request: MigrationRequest, events: MigrationEvents): Promise<MigrationReport> {
  const { from, to, storePassword } = request;
  if (isUrl(from) === isUrl(to)) {
    throw new OperatorError(
      'a migration is from a data folder to a Postgres database, or back',
      'Use --from DATA-DIR --to postgres://USER@HOST/DATABASE, or --from postgres://USER@HOST/DATABASE --to DATA-DIR.',
    );
  }
  const [flag, store] = isUrl(from) ? ['--from', from] : ['--to', to];
  try {
    const url = engineUrl({ store, storePassword });
    // Work on the file can keep this process from the answers of the database for seconds.
    const engine = openEngine(url, { replica: 'migration', connectMs: CONNECT_MS });
    try {
      return await (isUrl(from) ? intoFolder(engine, url.text, to, events) : intoCluster(engine, from, events));
    } finally {
      await engine.close();
    }
  } catch (error) {
    throw naming(flag, error);
  }
}

/** The time to open a connection and to begin a transaction, ms. */
const CONNECT_MS = 20_000;

const isUrl = (place: string) => /^postgres(?:ql)?:/.test(place);

/** Returns an error of the database with the flag that names it in this command, where a server has `--store`. */
function naming(flag: string, error: unknown): unknown {
  if (!(error instanceof OperatorError) || !/--store/.test(error.message + error.hint)) return error;
  const [message, hint] = [error.message, error.hint].map((text) => text.replaceAll(/(?<!zomma serve )--store/g, flag));
  const Kind = error instanceof SettingError ? SettingError : OperatorError;
  return new Kind(message!, hint!, { cause: error });
}

async function intoCluster(engine: Engine, dataDir: string, events: MigrationEvents): Promise<MigrationReport> {
  if (!hasData(dataDir) && hasData(dataDir, MIRROR)) {
    throw new OperatorError(
      `${dataDir} has only the copy of a database that servers share`,
      'Name that database with --from, and a new data folder with --to.',
    );
  }
  // Checks the folder, and names the command that upgrades it. To open it for writing would change the file.
  openData(dataDir, 'read').close();
  using _lock = lockData(dataDir);
  const path = join(dataDir, DATABASE);
  using db = new Database(path, { readwrite: true, strict: true });
  db.run('PRAGMA busy_timeout = 5000');
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  // Commands that need no lock of the folder cannot write meanwhile.
  db.run('BEGIN IMMEDIATE');
  const { size, mtimeMs } = statSync(path);
  // Not the name of the machine: that of a container differs at each start.
  const identity = realpathSync(dataDir);
  const origin = { name: dataDir, identity, version: `schema ${SCHEMA}, ${size} bytes of ${mtimeMs}` };
  const target = await openClusterTarget(engine, origin, secretIn(dataDir));
  if (target.completedAt !== undefined) return { tables: undefined, bytes: target.mark.bytes, needsSecret: false };
  const report = await copyAndCompare(sqliteRows(db), target, size, events);
  await target.complete();
  db.run('ROLLBACK');
  return { ...report, needsSecret: false };
}

async function intoFolder(
  engine: Engine,
  name: string,
  dataDir: string,
  events: MigrationEvents,
): Promise<MigrationReport> {
  if (hasData(dataDir, MIRROR)) {
    // No server starts on a folder with both kinds of data.
    throw new OperatorError(`${dataDir} has the copy of a database that servers share`, 'Name a new folder with --to.');
  }
  using _lock = lockData(dataDir);
  const secret = secretIn(dataDir);
  const needsSecret = secret === undefined;
  const finished = finishDraft(dataDir);
  // Before the secret: with other data in the folder, the right secret does not help.
  if (hasData(dataDir) && finished === undefined) throw filled(dataDir);
  const from = await openClusterOrigin(engine, name, secret);
  if (isSame(finished, from.origin) && hasData(dataDir)) return { tables: undefined, bytes: 0, needsSecret };
  if (hasData(dataDir)) throw filled(dataDir);
  using target = openMigrationDraft(dataDir, from.origin);
  const report = await copyAndCompare(from, target, from.bytes, events);
  await from.requireUnchanged();
  target.complete();
  return { ...report, needsSecret };
}

function filled(dataDir: string): OperatorError {
  return new OperatorError(`${dataDir} has data already`, 'Migrate into a new folder, and give it to the server.');
}

function isSame(a: CopyOrigin | undefined, b: CopyOrigin): boolean {
  return a !== undefined && a.identity === b.identity && a.version === b.version;
}

function secretIn(dataDir: string): Uint8Array | undefined {
  return existsSync(join(dataDir, 'secret')) ? presentSecret(dataDir) : undefined;
}

/** The rows of a migration differ after the copy. */
export class MigrationDiffers extends OperatorError {
  override readonly name = 'MigrationDiffers';

  constructor(readonly tables: readonly ComparedTable[]) {
    const names = tables.filter(({ isEqual }) => !isEqual).map(({ table }) => table);
    super(
      `the rows differ after the copy in ${names.join(', ')}`,
      'Nothing uses the copy. Run the command again: it begins again.',
    );
  }
}

async function copyAndCompare(
  from: TableRows,
  to: CopyTarget,
  ofBytes: number,
  { onStep, onProgress }: MigrationEvents,
): Promise<Pick<MigrationReport, 'tables' | 'bytes'>> {
  const begun = to.mark;
  onStep('copying', to.left);
  let { bytes } = begun;
  await copyRows(from, to, (mark) => {
    ({ bytes } = mark);
    onProgress(mark.bytes, ofBytes, mark.rows - begun.rows);
  });
  onStep('comparing');
  const tables = await compareRows(from, to, (compared, rows) => onProgress(compared, bytes, rows));
  if (tables.some(({ isEqual }) => !isEqual)) {
    await to.beginAgain();
    throw new MigrationDiffers(tables);
  }
  return { tables, bytes };
}
