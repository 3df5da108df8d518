import { createHash } from 'node:crypto';
import { OperatorError } from '../core/errors.ts';
import type { Transaction } from './postgres-session.ts';

/** A file that all servers of a cluster must share: the secret of the keys, or the authority of `--tls internal`. */
export type SharedFile = 'secret' | 'authority';

const FOREIGN: Readonly<Record<SharedFile, readonly [message: string, hint: string]>> = {
  secret: [
    'this server has another secret than the other servers of the database',
    'Copy the file "secret" from the data folder of another server into that of this one (mode 600), and start again.',
  ],
  authority: [
    'this server has another certificate authority than the other servers of the database',
    'Copy the folder "tls" from the data folder of another server into that of this one, without the file of the server, and start again.',
  ],
};

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
export async function isRegistered(sql: Transaction, file: SharedFile, content: Uint8Array): Promise<boolean> {
  const digest = digestOf(file, content);
  const known: { digest: string; is_valid: boolean }[] = await sql`
    select digest, until is null or until > clock_timestamp() as is_valid from zomma.shared_files where file = ${file}`;
  if (known.length === 0) return false;
  if (known.some((each) => each.digest === digest && each.is_valid)) return true;
  throw new OperatorError(...FOREIGN[file]);
}

/** Makes a secret the present one. The one before stays accepted for `graceMs`, so that the servers can be restarted one after another. */
export async function replaceSecret(sql: Transaction, next: Uint8Array, graceMs: number): Promise<void> {
  await sql`
    update zomma.shared_files set until = clock_timestamp() + ${graceMs}::float8 * interval '1 millisecond'
    where file = 'secret' and until is null`;
  await sql`
    insert into zomma.shared_files (file, digest) values ('secret', ${digestOf('secret', next)})
    on conflict (file, digest) do update set until = null`;
}
