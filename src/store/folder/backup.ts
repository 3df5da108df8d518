import { Database } from 'bun:sqlite';
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scryptSync,
} from 'node:crypto';
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
import { OperatorError } from '../../core/errors.ts';
import {
  FIRST_SCHEMA,
  LEVEL_LOG_NAME,
  MIGRATIONS,
  migrate,
  openAnySchema,
  requireKnown,
  schemaOf,
} from '../migrations.ts';
import { copyDurably, syncPath } from './upgrade.ts';

/** The name of the database file in a data folder and in a backup. */
export const DATABASE = 'zomma.sqlite';
/** The names of the other files in a backup. */
const SECRET = 'secret.encrypted';
const MANIFEST = 'manifest.json';

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

export interface BackupOptions {
  readonly version: string;
  readonly nowMs: number;
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
  { version, nowMs, secret, passphrase }: BackupOptions,
): Promise<Manifest> {
  if (existsSync(to)) throw new OperatorError(`${to} exists already`, 'Name a folder that does not exist.');
  const draft = `${resolve(to)}.partial`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const copy = join(draft, DATABASE);
    const db = openAnySchema(database, 'read');
    try {
      db.run('PRAGMA busy_timeout = 30000');
      copyDurably(db, copy);
    } finally {
      db.close(true);
    }
    if (secret && passphrase !== undefined)
      writeFileSync(join(draft, SECRET), sealSecret({ secret, passphrase }), { mode: 0o600 });
    const { schema, rows } = examine(copy);
    const files: Record<string, { bytes: number; sha256: string }> = {};
    for (const name of readdirSync(draft)) files[name] = await digestOf(join(draft, name));
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
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Checks the digests of the files and the numbers of rows of a backup. Throws an `OperatorError` that names the file and the reason. */
export async function checkBackup(from: string): Promise<Manifest> {
  const manifest = readManifest(from);
  requireKnown(manifest.schema);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const path = join(from, basename(name));
    if (!existsSync(path)) throw damaged(path, 'is missing');
    const found = await digestOf(path);
    if (found.bytes !== expected.bytes) throw damaged(path, `has ${found.bytes} bytes, and not ${expected.bytes}`);
    if (found.sha256 !== expected.sha256) throw damaged(path, 'is not the file that was backed up: its digest differs');
  }
  const { schema, rows } = examine(join(from, DATABASE));
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

/** Returns the folders of the backups in a folder, the oldest backup first. */
export function backupsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.endsWith('.partial') && existsSync(join(folder, name, MANIFEST)))
    .toSorted()
    .map((name) => join(folder, name));
}

function readManifest(from: string): Manifest {
  const path = join(from, MANIFEST);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new OperatorError(
      `${from} is no backup: cannot read ${path}`,
      'Name a folder that `zomma backup` has made.',
      { cause: error },
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

/** Returns the schema of a database copy and the number of rows in its tables. Throws `OperatorError` if SQLite finds damage. */
function examine(copy: string): { schema: number; rows: Record<string, number> } {
  const db = new Database(copy, { readonly: true, strict: true });
  try {
    // A trigger or a view of the copy runs no function of SQLite that has effects.
    db.run('PRAGMA trusted_schema = OFF');
    const problems = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all();
    if (problems[0]?.integrity_check !== 'ok') {
      throw damaged(copy, `is damaged: ${problems[0]?.integrity_check ?? 'no result'}`);
    }
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

/** Throws `OperatorError` if the database has a table, an index, a trigger or a view that no migration creates. */
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
    const known = new Set(namesOf(own));
    const foreign = namesOf(db).find((name) => !known.has(name));
    if (foreign !== undefined) throw damaged(copy, `has something that Zomma does not make: ${cleanLine(foreign)}`);
  } finally {
    own.close(true);
  }
}

function damaged(path: string, fault: string): OperatorError {
  return new OperatorError(`${path} ${fault}`, 'Use another backup. `zomma backup verify` checks one.');
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}

/** The secret of a data folder, together with the passphrase that encrypts the secret. */
type SealedSecret = Readonly<{ secret: Uint8Array; passphrase: string }>;

/** Returns the HMAC-SHA256 of a manifest in hex, under a key derived from the secret. It covers the digests of all files. */
function signatureOf(manifest: object, secret: Uint8Array): string {
  const key = hkdfSync('sha256', secret, '', 'zomma backup manifest', 32);
  return createHmac('sha256', new Uint8Array(key)).update(JSON.stringify(manifest)).digest('hex');
}

const CIPHER = 'aes-256-gcm';
/** The exponent of the cost of a new key. Deriving a key from a passphrase takes about 0.4 s and 128 MiB of memory. */
const COST_LOG2 = 17;

function keyOf(passphrase: string, salt: Uint8Array, cost: number): Buffer {
  return scryptSync(passphrase, salt, 32, { N: cost, r: 8, p: 1, maxmem: 2 * 128 * cost * 8 });
}

/** Encrypts a secret under its passphrase. Returns JSON with all that decrypts it but the passphrase. */
function sealSecret({ secret, passphrase }: SealedSecret): string {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cost = 2 ** COST_LOG2;
  const cipher = createCipheriv(CIPHER, keyOf(passphrase, salt, cost), iv);
  const data = Buffer.concat([cipher.update(secret), cipher.final()]);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return JSON.stringify({
    ...{ kdf: `scrypt N=${cost} r=8 p=1`, cipher: CIPHER },
    ...{ salt: hex(salt), iv: hex(iv), tag: hex(cipher.getAuthTag()), data: hex(data) },
  });
}

/** Decrypts a secret. `path` is its file. Throws `OperatorError` if the passphrase is missing or wrong, or if the file is damaged. */
function unsealSecret(text: string, path: string, passphrase: string | undefined): Uint8Array {
  if (passphrase === undefined) {
    throw new OperatorError(
      `${path} is encrypted`,
      'Give the passphrase with --passphrase-file, or remove the file to restore without the secret.',
    );
  }
  try {
    const sealed = JSON.parse(text) as Record<string, string>;
    const part = (name: string) => Buffer.from(sealed[name] ?? '', 'hex');
    // Earlier versions used a lower cost. The bound keeps a foreign file from taking all memory.
    const cost = Number(/^scrypt N=(\d{1,7}) r=8 p=1$/.exec(sealed.kdf ?? '')?.[1]);
    const decipher = createDecipheriv(CIPHER, keyOf(passphrase, part('salt'), Math.min(cost, 2 ** 20)), part('iv'));
    decipher.setAuthTag(part('tag'));
    return Buffer.concat([decipher.update(part('data')), decipher.final()]);
  } catch (error) {
    throw new OperatorError(`the passphrase does not open ${path}`, 'Give the passphrase of this backup.', {
      cause: error,
    });
  }
}
