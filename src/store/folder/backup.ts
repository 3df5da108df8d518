import { Database } from 'bun:sqlite';
import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto';
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
import { OperatorError } from '../../core/errors.ts';
import { openAnySchema, requireKnown, schemaOf } from '../migrations.ts';
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
}

/** The secret of a data folder, together with the passphrase that encrypts the secret. */
export interface SealedSecret {
  readonly secret: Uint8Array;
  readonly passphrase: string;
}

/**
 * Copies the state of a database at one moment to the folder `to`, which must not exist. A server may write during the copy. The copy is
 * checked and synced to the disk. The copy has a manifest with digests, and only the user of this process can read the copy. The folder
 * appears in one step, when it is complete.
 *
 * Throws `OperatorError` if the folder exists, the schema of the database is older than the first supported schema, or the copy is damaged.
 */
export async function makeBackup(
  database: string,
  to: string,
  { version, nowMs, sealed }: { readonly version: string; readonly nowMs: number; readonly sealed?: SealedSecret },
): Promise<Manifest> {
  if (existsSync(to)) throw new OperatorError(`${to} exists already`, 'Name a folder that does not exist.');
  const draft = `${resolve(to)}.partial`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const copy = join(draft, DATABASE);
    const db = openAnySchema(database);
    try {
      db.run('PRAGMA busy_timeout = 30000');
      copyDurably(db, copy);
    } finally {
      db.close(true);
    }
    if (sealed) writeFileSync(join(draft, SECRET), seal(sealed), { mode: 0o600 });
    const { schema, rows } = examine(copy);
    const files: Record<string, { bytes: number; sha256: string }> = {};
    for (const name of readdirSync(draft)) files[name] = await digestOf(join(draft, name));
    const manifest: Manifest = {
      ...{ format: 1, version, schema, made_at: new Date(nowMs).toISOString(), files, rows },
    };
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

/**
 * Checks that a backup is complete and undamaged. The files must match the digests in the manifest. Each table must have as many rows as
 * the manifest states. Throws an `OperatorError` that names the file and the reason.
 */
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

/**
 * Writes the database of a backup to the path `database`. The folder of the path must exist. The database appears in one step, when it is
 * complete. Returns the secret if the backup has a secret.
 *
 * Throws `OperatorError` if the passphrase is missing or wrong.
 */
export async function restoreBackup(
  from: string,
  database: string,
  passphrase?: string,
): Promise<Uint8Array | undefined> {
  const sealed = join(from, SECRET);
  const secret = existsSync(sealed) ? open(readFileSync(sealed, 'utf8'), sealed, passphrase) : undefined;
  const draft = `${database}.partial`;
  copyFileSync(join(from, DATABASE), draft);
  chmodSync(draft, 0o600);
  syncPath(draft);
  renameSync(draft, database);
  syncPath(dirname(database));
  return secret;
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
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    if (manifest.format === 1 && typeof manifest.files === 'object') return manifest;
  } catch (error) {
    throw new OperatorError(
      `${from} is no backup: cannot read ${path}`,
      'Name a folder that `zomma backup` has made.',
      {
        cause: error,
      },
    );
  }
  throw new OperatorError(`${path} is no manifest of this version`, 'Use the version of Zomma that made the backup.');
}

/** Returns the schema of a database copy and the number of rows in its tables. Throws `OperatorError` if SQLite finds damage. */
function examine(copy: string): { schema: number; rows: Record<string, number> } {
  const db = new Database(copy, { readonly: true, strict: true });
  try {
    const problems = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all();
    if (problems[0]?.integrity_check !== 'ok') {
      throw damaged(copy, `is damaged: ${problems[0]?.integrity_check ?? 'no result'}`);
    }
    const tables = db
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all();
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

function damaged(path: string, fault: string): OperatorError {
  return new OperatorError(`${path} ${fault}`, 'Use another backup. `zomma backup verify` checks one.');
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}

/** Deriving a key from a passphrase takes about 0.1 s and 32 MiB of memory. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;
const CIPHER = 'aes-256-gcm';

function seal({ secret, passphrase }: SealedSecret): string {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv(CIPHER, scryptSync(passphrase, salt, 32, SCRYPT), iv);
  const data = Buffer.concat([cipher.update(secret), cipher.final()]);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return JSON.stringify({
    ...{ kdf: 'scrypt N=32768 r=8 p=1', cipher: CIPHER },
    ...{ salt: hex(salt), iv: hex(iv), tag: hex(cipher.getAuthTag()), data: hex(data) },
  });
}

function open(text: string, path: string, passphrase: string | undefined): Uint8Array {
  if (passphrase === undefined) {
    throw new OperatorError(
      `${path} is encrypted`,
      'Give the passphrase with --passphrase-file, or remove the file to restore without the secret.',
    );
  }
  const part = (name: string) => Buffer.from((JSON.parse(text) as Record<string, string>)[name] ?? '', 'hex');
  try {
    const decipher = createDecipheriv(CIPHER, scryptSync(passphrase, part('salt'), 32, SCRYPT), part('iv'));
    decipher.setAuthTag(part('tag'));
    return Buffer.concat([decipher.update(part('data')), decipher.final()]);
  } catch (error) {
    throw new OperatorError(`the passphrase does not open ${path}`, 'Give the passphrase of this backup.', {
      cause: error,
    });
  }
}
