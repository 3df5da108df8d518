import { timingSafeEqual } from 'node:crypto';
import { bearerOf } from '../access/api-key.ts';
import { ClientError, SettingError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { SettingValues } from '../settings/config.ts';
import { blockListOf, contains } from './client-address.ts';

/**
 * Decides which clients may request the key of a member. A UUID is enough to get a key. So only clients of this machine may request a key,
 * unless the operator names the operator terminal, by client address, by token or by both, or opens `my-key` to any client.
 */
export type MyKeyPolicy = ReturnType<typeof createMyKeyPolicy>;

export type MyKeySettings = Pick<SettingValues, 'myKey' | 'myKeyFrom' | 'myKeyToken'>;

/** Creates the policy for the settings. Throws `SettingError` if they contradict each other. */
export function createMyKeyPolicy({ myKey, myKeyFrom, myKeyToken }: MyKeySettings) {
  if (myKey === 'any' && myKeyFrom) {
    throw new SettingError('--my-key any and --my-key-from exclude each other', 'Give one of them.');
  }
  const networks = myKeyFrom && blockListOf(myKeyFrom);
  const expected = myKeyToken === undefined ? undefined : digestOf(myKeyToken);
  const isForeign = (address: string): boolean => {
    if (networks) return !contains(networks, address);
    return expected === undefined && myKey === 'loopback' && !isLoopback(address);
  };
  return {
    /** Whether the settings name the clients that `check` admits: the operator terminal. */
    namesClients: networks !== undefined || expected !== undefined,
    /**
     * Throws `ClientError`: `client_foreign` (403) if clients of the address may not request keys, `token_refused` (401) if the header
     * `Authorization` does not contain the token. Neither error depends on the UUID.
     */
    check(address: string, authorization: string | null) {
      if (isForeign(address)) {
        throw new ClientError('client_foreign', 'Clients of this address may not ask for keys', {
          hint: 'Fetch your key from the operator terminal. The operator admits clients with --my-key-from, a token or --my-key any.',
        });
      }
      if (expected === undefined) return;
      if (timingSafeEqual(digestOf(bearerOf(authorization) ?? ''), expected)) return;
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
