import { createHash } from 'node:crypto';
import { OperatorError } from '../core/errors.ts';
import type { Transaction } from './postgres-session.ts';

/** Returns what the database knows of a secret: a digest that only the secret itself proves. */
export function secretDigest(secret: Uint8Array): string {
  return createHash('sha256').update('zomma cluster secret\0').update(secret).digest('hex');
}

/** Registers the secret of the first server, or checks that a further server has the same. Throws `OperatorError` if it has another one. */
export async function acceptSecret(sql: Transaction, secret: Uint8Array): Promise<void> {
  const digest = secretDigest(secret);
  await sql`lock table zomma.secrets in exclusive mode`;
  const known: { digest: string; is_valid: boolean }[] =
    await sql`select digest, until is null or until > clock_timestamp() as is_valid from zomma.secrets`;
  if (known.length === 0) {
    await sql`insert into zomma.secrets (digest) values (${digest})`;
    return;
  }
  const own = known.find((each) => each.digest === digest);
  if (own?.is_valid) return;
  throw new OperatorError(
    own
      ? 'the secret of this server was replaced by a rotation'
      : 'this server has another secret than the other servers of the database',
    'Copy the file "secret" from the data folder of another server into that of this one (mode 600), and start again.',
  );
}

/** Makes a secret the present one. The one before stays accepted for `graceMs`, so that the servers can be restarted one after another. */
export async function rotateClusterSecret(sql: Transaction, next: Uint8Array, graceMs: number): Promise<void> {
  await sql`update zomma.secrets set until = clock_timestamp() + ${graceMs}::float8 * interval '1 millisecond' where until is null`;
  await sql`insert into zomma.secrets (digest) values (${secretDigest(next)}) on conflict (digest) do update set until = null`;
}
