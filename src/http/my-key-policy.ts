import { timingSafeEqual } from 'node:crypto';
import { ClientError } from '../core/errors.ts';
import type { SettingValues } from '../settings/config.ts';
import { blockListOf, contains } from './client-address.ts';

/**
 * Decides which clients may request the key of a member. A UUID is enough to get a key. An operator can therefore restrict `my-key` to
 * the operator terminal: by client address, by token or by both.
 */
export type MyKeyPolicy = ReturnType<typeof createMyKeyPolicy>;

export type MyKeySettings = Pick<SettingValues, 'myKeyFrom' | 'myKeyToken'>;

/** Creates the policy for the settings. Without settings, every client may request a key. */
export function createMyKeyPolicy({ myKeyFrom, myKeyToken }: MyKeySettings) {
  const networks = myKeyFrom && blockListOf(myKeyFrom);
  const expected = myKeyToken === undefined ? undefined : digestOf(myKeyToken);
  return {
    /**
     * Throws `ClientError`: `client_foreign` (403) if no allowed network contains the address, `token_refused` (401) if the header
     * `Authorization` does not contain the token. The errors `client_foreign` and `token_refused` do not depend on the UUID.
     */
    check(address: string, authorization: string | null) {
      if (networks && !contains(networks, address)) {
        throw new ClientError('client_foreign', 'Clients of this address may not ask for keys', {
          hint: 'Fetch your key from the operator terminal.',
        });
      }
      if (expected === undefined) return;
      const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
      if (timingSafeEqual(digestOf(token), expected)) return;
      throw new ClientError('token_refused', 'The bearer token is missing or wrong', {
        hint: 'Fetch your key from the operator terminal, which sends a token in the Authorization header.',
      });
    },
  };
}

/** Returns the digest of a token. All digests have the same length, which a constant-time comparison needs. */
function digestOf(token: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(token).digest();
}
