import { ClientError } from '../core/errors.ts';

/** Every key begins with this prefix, so that people and secret scanners recognize keys. */
export const KEY_PREFIX = 'ZOMMA_';

/** This prefix of the HMAC input separates API keys from other uses of the secret, and from later versions of the key derivation. */
const DOMAIN = 'zomma/api-key/v1\0';

/** The digits of Crockford's base32. The letters I, L, O and U are left out, so that people do not confuse characters in a key. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Number of HMAC bytes in a key: 80 bits. With a million valid keys, 10,000 guesses a second find a key in two million years. */
const HASH_BYTES = 10;

const KEY_FORM = new RegExp(`^${KEY_PREFIX}[${ALPHABET}]{16}$`);
const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns a member's API key: `ZOMMA_` and 16 characters, which encode the HMAC-SHA-256 of the UUID and the generation under the server's
 * secret. `generation` counts the replacements of the key. Neither the UUID, the secret nor another key can be derived from the key. Throws
 * `ClientError` (`invalid_parameter`) if the UUID is malformed.
 */
export function deriveKey(secret: Uint8Array, uuid: string, generation = 0): string {
  const hasher = new Bun.CryptoHasher('sha256', secret).update(DOMAIN).update(canonicalUuid(uuid));
  // Generation 0 has the key of the versions before keys could be replaced.
  if (generation > 0) hasher.update(`\0${generation}`);
  return KEY_PREFIX + base32(hasher.digest().subarray(0, HASH_BYTES));
}

/** Returns the SHA-256 of a key in hex, which the store has instead. A slow hash would not be safer: a key has 80 random bits. */
export function keyDigest(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex');
}

/** Returns whether a text has the form of a key. A text with the form of a key need not be an issued key. */
export function hasKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/**
 * Returns a UUID of 8-4-4-4-12 hex digits in lower case, of every version, because the membership system chooses UUIDs. Throws
 * `ClientError` (`invalid_parameter`) without the text, which may be a member's UUID.
 */
export function canonicalUuid(text: string): string {
  const uuid = text.toLowerCase();
  if (UUID_FORM.test(uuid)) return uuid;
  throw new ClientError('invalid_parameter', 'uuid is not a UUID', {
    hint: 'Use the form 00000000-0000-0000-0000-000000000000, in hex digits.',
    fieldErrors: [{ field: '/uuid', expected: 'must be a UUID' }],
  });
}

/** Returns the token of an Authorization header, or null. */
export function bearerOf(authorization: string | null): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((buffer >>> (bits - 5)) & 31);
    buffer &= (1 << bits) - 1;
  }
  return text;
}
