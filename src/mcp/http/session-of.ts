import type { Account } from '../../access/access.ts';
import { ClientError } from '../../core/errors.ts';

/** The header or query parameter with the id of a client's session, and the hints for errors. */
export interface SessionIdField {
  /** Name of the header or parameter in error texts. */
  readonly what: string;
  /** JSON Pointer for the field error. */
  readonly field: string;
  /** Hint for a request without an id. */
  readonly missing: string;
  /** Hint for an unknown id. */
  readonly unknown: string;
}

/** Returns the session with an id. Throws `ClientError`: 400 without an id, 404 for an unknown id, 403 for another account's session. */
export function sessionOf<Session extends { readonly account: Account }>(
  sessions: ReadonlyMap<string, Session>,
  account: Account,
  id: string | null,
  { what, field, missing, unknown }: SessionIdField,
): Session {
  if (!id) {
    const fieldErrors = [{ field, expected: 'must be given' }];
    throw new ClientError('invalid_parameter', `The ${what} is missing`, { hint: missing, fieldErrors });
  }
  const session = sessions.get(id);
  if (!session) throw new ClientError('not_found', 'There is no such session', { hint: unknown });
  if (session.account.id === account.id) return session;
  throw new ClientError('session_foreign', 'This session was opened with another key', {
    hint: 'Send the key that opened the session.',
  });
}

/** Returns a new id: 128 random bits in base64url. Nobody can guess the id of a session. */
export function newSessionId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
}
