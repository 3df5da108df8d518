import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SharedSecret } from '../access/access.ts';
import { OperatorError } from '../core/errors.ts';
import type { Transaction } from './postgres-session.ts';
import type { AppendHooks } from './replica.ts';

/** A file that all servers of a cluster must share: the secret of the keys, or the authority of `--tls internal`. */
export type SharedFile = 'secret' | 'authority';

const NAMES: Readonly<Record<SharedFile, string>> = { secret: 'secret', authority: 'certificate authority' };
const COPY: Readonly<Record<SharedFile, string>> = {
  secret:
    'Copy the file "secret" from the data folder of another server into that of this one (mode 600), and start again.',
  authority:
    'Copy the folder "tls" from the data folder of another server into that of this one, without the file of the server, and start again.',
};

function foreign(file: SharedFile): OperatorError {
  return new OperatorError(`this server has another ${NAMES[file]} than the other servers of the database`, COPY[file]);
}

/** Returns the error for a server that has no file of its own, though the other servers share one. */
export function missing(file: SharedFile, dataDir: string): OperatorError {
  return new OperatorError(
    `${dataDir} has no ${NAMES[file]}, and the other servers of the database have one`,
    COPY[file],
  );
}

/** Returns what the database knows of a file: a digest, which does not reveal it. */
function digestOf(file: SharedFile, content: Uint8Array): string {
  return createHash('sha256').update(`zomma ${file}\0`).update(content).digest('hex');
}

/** Returns whether a server of the cluster has registered its file. */
export async function hasAccepted(sql: Transaction, file: SharedFile): Promise<boolean> {
  const rows = await sql`select 1 as one from zomma.shared_files where file = ${file}`;
  return rows.length > 0;
}

/** Registers the file of the first server, or checks that a further server has the same. Throws `OperatorError` if it has another one. */
export async function acceptFile(sql: Transaction, file: SharedFile, content: Uint8Array): Promise<void> {
  await sql`lock table zomma.shared_files in exclusive mode`;
  if (!(await isRegistered(sql, file, content)))
    await sql`insert into zomma.shared_files (file, digest) values (${file}, ${digestOf(file, content)})`;
}

/** Returns whether the file of this server is registered. Throws `OperatorError` if only another one is. */
async function isRegistered(sql: Transaction, file: SharedFile, content: Uint8Array): Promise<boolean> {
  const digest = digestOf(file, content);
  const known: { digest: string; is_valid: boolean }[] = await sql`
    select digest, until is null or until > clock_timestamp() as is_valid from zomma.shared_files where file = ${file}`;
  if (known.length === 0) return false;
  if (known.some((each) => each.digest === digest && each.is_valid)) return true;
  throw foreign(file);
}

/**
 * Returns what the database knows of a file of this server, which may lack it: whether it is valid, and until when. Undefined if no server has
 * registered one.
 */
export async function standingOf(
  sql: Transaction,
  file: SharedFile,
  content: Uint8Array | undefined,
): Promise<{ readonly isValid: boolean; readonly untilMs: number | null } | undefined> {
  const rows: { digest: string; is_valid: boolean; until_ms: number | null }[] = await sql`
    select digest, until is null or until > clock_timestamp() as is_valid, (extract(epoch from until) * 1000)::float8 as until_ms
    from zomma.shared_files where file = ${file}`;
  if (rows.length === 0) return undefined;
  const own = content && rows.find(({ digest }) => digest === digestOf(file, content));
  return { isValid: own?.is_valid ?? false, untilMs: own?.until_ms ?? null };
}

/** Makes a secret the present one. The one before stays accepted for `graceMs`, so that the servers can be restarted one after another. */
export async function replaceSecret(sql: Transaction, next: Uint8Array, graceMs: number): Promise<void> {
  await sql`
    update zomma.shared_files set until = case when until is null
      then clock_timestamp() + ${graceMs}::float8 * interval '1 millisecond' else least(until, clock_timestamp()) end
    where file = 'secret'`;
  await sql`
    insert into zomma.shared_files (file, digest) values ('secret', ${digestOf('secret', next)})
    on conflict (file, digest) do update set until = null`;
}

/** The secret of a data folder as the servers share it: `members.write` of a ledger with these hooks keeps both together. */
export function sharedSecret(dataDir: string): SharedSecret & AppendHooks {
  let present: readonly string[] = [];
  let first: Uint8Array | undefined;
  let replacement: { readonly secret: Uint8Array; readonly graceMs: number } | undefined;
  const isPresent = (secret: Uint8Array) =>
    present.length === 0 ? undefined : present.includes(digestOf('secret', secret));
  return {
    isPresent,
    own(read) {
      if (present.length > 0 && !existsSync(join(dataDir, 'secret'))) throw missing('secret', dataDir);
      const secret = read();
      if (isPresent(secret) === false) throw foreign('secret');
      if (present.length === 0) first = secret;
      return secret;
    },
    replace(secret, graceMs) {
      replacement = { secret, graceMs };
    },
    async before(sql) {
      [first, replacement] = [undefined, undefined];
      const rows: { digest: string }[] = await sql`
        select digest from zomma.shared_files where file = 'secret' and until is null`;
      present = rows.map(({ digest }) => digest);
    },
    async after(sql) {
      if (replacement) await replaceSecret(sql, replacement.secret, replacement.graceMs);
      else if (first) await acceptFile(sql, 'secret', first);
    },
  };
}
