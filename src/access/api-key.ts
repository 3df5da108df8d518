import { Failure } from '../errors.ts';

/** What every key begins with, so that people and secret scanners know one when they see it. */
export const KEY_PREFIX = 'ZOMMA_';

/** Separates this use of the secret from any other, and lets a later way of deriving keys stand beside this one. */
const DOMAIN = 'zomma/api-key/v1\0';

/** Crockford's base32: no I, L, O or U, so a key read aloud or retyped is not mistaken. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 80 bits make exactly 16 characters; at 10,000 guesses a second, hitting one of a million live keys takes two million years. */
const HASH_BYTES = 10;

const KEY_FORM = new RegExp(`^${KEY_PREFIX}[${ALPHABET}]{16}$`);
const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A member's API key: `ZOMMA_` and 16 characters of HMAC-SHA-256 over the UUID, keyed by the server's secret. The same UUID
 * always has the same key, and neither the UUID nor the secret can be found from it.
 *
 * @throws Failure invalid_parameter where the UUID is malformed.
 */
export function deriveKey(secret: Uint8Array, uuid: string): string {
  const mac = new Bun.CryptoHasher('sha256', secret).update(DOMAIN).update(canonicalUuid(uuid)).digest();
  return KEY_PREFIX + base32(mac.subarray(0, HASH_BYTES));
}

/** What is kept of a key: its SHA-256 in hex. A key carries 80 random bits, so a slow password hash would add nothing. */
export function keyDigest(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex');
}

/** Whether a text is written as a key is; says nothing about whether it was ever issued. */
export function hasKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/**
 * The lower-case form of a UUID written 8-4-4-4-12 in hex. Any version and variant is taken, since the membership system
 * chooses them.
 *
 * @throws Failure invalid_parameter for anything else; the text itself is not repeated, it may be a member's.
 */
export function canonicalUuid(text: string): string {
  const uuid = text.toLowerCase();
  if (UUID_FORM.test(uuid)) return uuid;
  throw new Failure('invalid_parameter', 'uuid is not a UUID', {
    hint: 'use the form 00000000-0000-0000-0000-000000000000, in hex',
    faults: [{ field: '/uuid', expected: 'must be a UUID' }],
  });
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((held >>> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return text;
}
