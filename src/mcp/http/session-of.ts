import type { Account } from '../../access/access.ts';
import { Failure } from '../../errors.ts';

/** Where a client names its session, and how it comes by one. */
export interface SessionPlace {
  readonly what: string;
  readonly field: string;
  /** What to do without an id, and with one that is not known. */
  readonly missing: string;
  readonly unknown: string;
}

/** The session of an id, which answers to the account that opened it alone. Throws `Failure`: 400, 404, 403. */
export function sessionOf<Session extends { readonly account: Account }>(
  sessions: ReadonlyMap<string, Session>,
  account: Account,
  id: string | null,
  { what, field, missing, unknown }: SessionPlace,
): Session {
  if (!id) {
    const faults = [{ field, expected: 'must be given' }];
    throw new Failure('invalid_parameter', `The ${what} is missing`, { hint: missing, faults });
  }
  const session = sessions.get(id);
  if (!session) throw new Failure('not_found', 'There is no such session', { hint: unknown });
  if (session.account.id === account.id) return session;
  throw new Failure('session_foreign', 'This session was opened with another key', {
    hint: 'Send the key that opened it.',
  });
}
