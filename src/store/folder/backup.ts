import { Database } from 'bun:sqlite';
import { createHash, createHmac, hkdfSync } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { cleanLine } from '../../core/clean-text.ts';
import { diskProblem, OperatorError } from '../../core/errors.ts';
import {
  FIRST_SCHEMA,
  LEVEL_LOG_NAME,
  MIGRATIONS,
  migrate,
  openAnySchema,
  requireKnown,
  schemaOf,
} from '../migrations.ts';
import { sealSecret, unsealSecret } from './sealed-secret.ts';
import { copyDurably, syncPath } from './upgrade.ts';

/** The name of the database file in a data folder and in a backup. */
export const DATABASE = 'zomma.sqlite';
/** The names of the other files in a backup. */
const SECRET = 'secret.encrypted';
export const MANIFEST = 'manifest.json';

/** The end of the name of a folder that is being made or removed, and is no backup. */
export const DRAFT = '.partial';
/** The number of bytes that are read at once. */
const PIECE_BYTES = 2 ** 20;

/** The description of a backup's contents. With the manifest, a program can check that the backup is complete. */
export interface Manifest {
  readonly format: 1;
  readonly version: string;
  readonly schema: number;
  /** The time at which the backup was made, ISO 8601. */
  readonly made_at: string;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
  /** The number of rows in each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** The HMAC of the other fields under the secret of the data folder. Absent if the data folder has no secret. */
  readonly signature?: string;
}

/** The contents of a database: its schema, and the number of rows in each table. */
export type DatabaseContents = Pick<Manifest, 'schema' | 'rows'>;

export interface BackupOptions {
  readonly version: string;
  readonly nowMs: number;
  /** Copies a database to a file and checks the copy (`copyChecked`). */
  readonly copy: (database: string, to: string) => DatabaseContents | Promise<DatabaseContents>;
  /** Ends the backup early. Nothing of it remains then. */
  readonly signal?: AbortSignal | undefined;
  /** The secret of the data folder, which signs the manifest. */
  readonly secret?: Uint8Array | undefined;
  /** The passphrase under which the secret is included. Without a passphrase, the backup has no secret. */
  readonly passphrase?: string | undefined;
}

/**
 * Copies a database, also while a server writes, to the new folder `to`, private to this user, with a manifest of digests. The checked and
 * synced folder appears in one step. Throws `OperatorError` if the folder exists, the schema is too old or the copy is damaged.
 */
export async function makeBackup(
  database: string,
  to: string,
  { version, nowMs, copy, signal, secret, passphrase }: BackupOptions,
): Promise<Manifest> {
  if (existsSync(to)) throw new OperatorError(`${to} exists already`, 'Name a folder that does not exist.');
  const draft = `${resolve(to)}${DRAFT}`;
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const { schema, rows } = await copy(database, join(draft, DATABASE));
    if (secret && passphrase !== undefined)
      writeFileSync(join(draft, SECRET), sealSecret({ secret, passphrase }), { mode: 0o600 });
    const files: Record<string, { bytes: number; sha256: string }> = {};
    for (const name of readdirSync(draft)) files[name] = await digestOf(join(draft, name), signal);
    const unsigned: Manifest = {
      ...{ format: 1, version, schema, made_at: new Date(nowMs).toISOString(), files, rows },
    };
    const manifest = secret ? { ...unsigned, signature: signatureOf(unsigned, secret) } : unsigned;
    writeFileSync(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    for (const name of readdirSync(draft)) syncPath(join(draft, name));
    syncPath(draft);
    renameSync(draft, to);
    syncPath(dirname(resolve(to)));
    return manifest;
  } catch (error) {
    removeIfPossible(draft);
    const problem = error instanceof OperatorError ? undefined : diskProblem(error);
    if (problem === undefined) throw error;
    const hint = 'Look at the disks of both. A backup needs room for a copy of the database.';
    const reason = `${problem.reason}: ${(error as Error).message}`;
    throw new OperatorError(`cannot copy ${database} to ${to}: ${reason}`, hint, { cause: error });
  }
}

/** Removes a folder. A disk that is gone or cannot be written keeps it, which the error that led here says. */
function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The folder is no backup by its name, and the next round of `zomma backup --every` removes it.
  }
}

/** Copies a database to a file, also while a server writes, and checks the copy. Throws `OperatorError` if the copy is damaged. */
export function copyChecked(database: string, to: string): DatabaseContents {
  const db = openAnySchema(database, 'read');
  try {
    db.run('PRAGMA busy_timeout = 30000');
    copyDurably(db, to);
  } finally {
    db.close(true);
  }
  return examine(to);
}

/**
 * Checks the digests of the files and the numbers of rows of a backup. Throws `DamagedBackup`, which names the file and the reason. If the
 * secret has signed the backup, its digests prove that the pages of the database are those that were checked when it was made.
 */
export async function checkBackup(from: string, secret?: Uint8Array): Promise<Manifest> {
  const manifest = readManifest(from);
  requireKnown(manifest.schema);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const path = join(from, basename(name));
    if (!existsSync(path)) throw damaged(path, 'is missing');
    const found = await digestOf(path);
    if (found.bytes !== expected.bytes) throw damaged(path, `has ${found.bytes} bytes, and not ${expected.bytes}`);
    if (found.sha256 !== expected.sha256) throw damaged(path, 'is not the file that was backed up: its digest differs');
  }
  const isChecked = secret !== undefined && isSignedWith(manifest, secret);
  const { schema, rows } = examine(join(from, DATABASE), isChecked);
  if (schema !== manifest.schema || JSON.stringify(rows) !== JSON.stringify(manifest.rows)) {
    throw damaged(join(from, DATABASE), 'has other rows than the manifest');
  }
  return manifest;
}

/** Returns the secret in a backup, if any. Throws `OperatorError` if the passphrase is missing or wrong. */
export function secretIn(from: string, passphrase: string | undefined): Uint8Array | undefined {
  const path = join(from, SECRET);
  return existsSync(path) ? unsealSecret(readFileSync(path, 'utf8'), path, passphrase) : undefined;
}

/** Returns whether the manifest was signed with the secret, and is unchanged since then. */
export function isSignedWith({ signature, ...unsigned }: Manifest, secret: Uint8Array): boolean {
  return signature === signatureOf(unsigned, secret);
}

/**
 * Writes the database of a backup to `database`, in one step. The folder must exist. The log of levels gets a new name, because it continues
 * in another way than that of the database that was backed up, and the ids of live events must tell them apart.
 */
export function restoreDatabase(from: string, database: string): void {
  const draft = `${database}.partial`;
  copyFileSync(join(from, DATABASE), draft);
  chmodSync(draft, 0o600);
  const db = openAnySchema(draft);
  try {
    // Backups of earlier versions have no name of the log. They get one with the upgrade.
    const isNamed = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'level_log'").get() !== null;
    if (isNamed) db.run(`UPDATE level_log SET name = ${LEVEL_LOG_NAME}`);
  } finally {
    db.close(true);
  }
  syncPath(draft);
  renameSync(draft, database);
  syncPath(dirname(database));
}

/** Reads the manifest of a backup. Throws `DamagedBackup` if the file cannot be read, and `OperatorError` if it is of another version. */
export function readManifest(from: string): Manifest {
  const path = join(from, MANIFEST);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DamagedBackup(
      `${from} is no backup: cannot read ${path}`,
      'Name a folder that `zomma backup` has made.',
      {
        cause: error,
      },
    );
  }
  if (isManifest(manifest)) return manifest;
  throw new OperatorError(`${path} is no manifest of this version`, 'Use the version of Zomma that made the backup.');
}

/** Returns whether a value has every field of a manifest. Its texts are of one line, because commands print them. */
function isManifest(value: unknown): value is Manifest {
  const { format, version, schema, made_at, files, rows, signature = '' } = (value ?? {}) as Record<string, unknown>;
  const isCount = (each: unknown) => Number.isSafeInteger(each) && (each as number) >= 0;
  const isLine = (each: unknown) => typeof each === 'string' && each === cleanLine(each, 100);
  const isFile = (each: unknown) => {
    const { bytes, sha256 } = (each ?? {}) as Record<string, unknown>;
    return isCount(bytes) && isLine(sha256);
  };
  const isTable = (each: unknown, isValue: (value: unknown) => boolean): each is object =>
    typeof each === 'object' && each !== null && Object.values(each).every(isValue);
  return (
    [format === 1, isCount(schema), isTable(rows, isCount), isTable(files, isFile)].every(Boolean) &&
    [version, made_at, signature].every(isLine) &&
    Object.hasOwn(files as object, DATABASE)
  );
}

/** Returns the contents of a database copy. Throws `DamagedBackup` if SQLite finds damage, for which it reads all pages unless `isChecked`. */
function examine(copy: string, isChecked = false): DatabaseContents {
  const db = new Database(copy, { readonly: true, strict: true });
  try {
    // A trigger or a view of the copy runs no function of SQLite that has effects.
    db.run('PRAGMA trusted_schema = OFF');
    const check = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)');
    const problem = isChecked ? 'ok' : check.get()?.integrity_check;
    if (problem !== 'ok') throw damaged(copy, `is damaged: ${problem ?? 'no result'}`);
    const tables = db
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all();
    refuseForeignObjects(db, copy);
    const count = (name: string) =>
      db.query<{ count: number }, []>(`SELECT count(*) AS count FROM "${name}"`).get()!.count;
    return { schema: schemaOf(db), rows: Object.fromEntries(tables.map(({ name }) => [name, count(name)])) };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw damaged(copy, `is damaged: ${(error as Error).message}`);
  } finally {
    db.close(true);
  }
}

/**
 * Empty tables without a meaning to Zomma, in which Litestream writes to advance the write-ahead log. They stay in every database that
 * Litestream has replicated.
 */
const OF_LITESTREAM = ['table _litestream_seq', 'table _litestream_lock'];

/** Throws `DamagedBackup` if the database has a table, an index, a trigger or a view that no migration creates. */
function refuseForeignObjects(db: Database, copy: string): void {
  const namesOf = (each: Database) =>
    each
      .query<{ name: string }, []>(
        "SELECT type || ' ' || name AS name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
      )
      .all()
      .map(({ name }) => name);
  const own = new Database(':memory:', { strict: true });
  try {
    migrate(own, MIGRATIONS.slice(0, schemaOf(db) - FIRST_SCHEMA + 1));
    const known = new Set([...namesOf(own), ...OF_LITESTREAM]);
    const foreign = namesOf(db).find((name) => !known.has(name));
    if (foreign !== undefined) throw damaged(copy, `has something that Zomma does not make: ${cleanLine(foreign)}`);
  } finally {
    own.close(true);
  }
}

/** A backup that is incomplete, or that is not as it was made. */
export class DamagedBackup extends OperatorError {}

function damaged(path: string, fault: string): DamagedBackup {
  return new DamagedBackup(`${path} ${fault}`, 'Use another backup. `zomma backup verify` checks one.');
}

async function digestOf(path: string, signal?: AbortSignal): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES, signal }))
    hash.update(piece as Buffer);
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}

/** Returns the HMAC-SHA256 of a manifest in hex, under a key derived from the secret. It covers the digests of all files. */
function signatureOf(manifest: object, secret: Uint8Array): string {
  const key = hkdfSync('sha256', secret, '', 'zomma backup manifest', 32);
  return createHmac('sha256', new Uint8Array(key)).update(JSON.stringify(manifest)).digest('hex');
}
