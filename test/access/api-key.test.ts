import { expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { canonicalUuid, deriveKey, hasKeyForm, KEY_PREFIX, keyDigest } from '../../src/access/api-key.ts';
import { ClientError } from '../../src/core/errors.ts';

const SECRET = Uint8Array.from({ length: 32 }, (_, n) => n);
const UUID = '6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b';
const NIL = '00000000-0000-0000-0000-000000000000';

/** Derives the same key independently: the 80 bits as one number, whose base-32 digits are mapped to Crockford's alphabet. */
function keyByNumber(secret: Uint8Array, message: string): string {
  const hex = createHmac('sha256', secret).update(message).digest('hex').slice(0, 20);
  const digits = BigInt(`0x${hex}`).toString(32).padStart(16, '0');
  const renamed = [...digits].map((digit) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number.parseInt(digit, 32)]);
  return `ZOMMA_${renamed.join('')}`;
}

test.each([
  // Computed once with Python's hmac, hashlib and base64.b32encode.
  [UUID, 'ZOMMA_JCQV0A9DWTSXBPG9'],
  [NIL, 'ZOMMA_8P74S55W7J76S72F'],
])('the key of %s is stable across releases', (uuid, key) => {
  expect(deriveKey(SECRET, uuid)).toBe(key);
});

test('keys match an independent derivation for any secret and UUID', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 64 }), fc.uuid(), (secret, uuid) => {
      const key = deriveKey(secret, uuid);
      expect(key).toBe(keyByNumber(secret, `zomma/api-key/v1\0${uuid}`));
      expect(hasKeyForm(key)).toBe(true);
      expect(deriveKey(secret, uuid.toUpperCase())).toBe(key);
    }),
  );
});

test('the key depends on the label, the secret and the UUID', () => {
  const key = deriveKey(SECRET, UUID);
  expect(key).not.toBe(keyByNumber(SECRET, UUID));
  expect(deriveKey(SECRET.with(0, 9), UUID)).not.toBe(key);
  expect(deriveKey(SECRET, `${UUID.slice(0, -1)}c`)).not.toBe(key);
});

test('the digest is the SHA-256 of the key in hex', () => {
  // The test vector for "abc" in FIPS 180-2, appendix B.1.
  expect(keyDigest('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test.each([
  [`${KEY_PREFIX}0123456789ABCDEF`, true],
  [`${KEY_PREFIX}GHJKMNPQRSTVWXYZ`, true],
  [`${KEY_PREFIX}0123456789ABCDE`, false],
  [`${KEY_PREFIX}0123456789ABCDEF0`, false],
  [`${KEY_PREFIX}0123456789abcdef`, false],
  [`${KEY_PREFIX}I123456789ABCDEF`, false],
  [`${KEY_PREFIX}L123456789ABCDEF`, false],
  [`${KEY_PREFIX}O123456789ABCDEF`, false],
  [`${KEY_PREFIX}U123456789ABCDEF`, false],
  ['zomma_0123456789ABCDEF', false],
  ['OTHER_0123456789ABCDEF', false],
  ['0123456789ABCDEF', false],
  [` ${KEY_PREFIX}0123456789ABCDEF`, false],
  [`${KEY_PREFIX}0123456789ABCDEF\n`, false],
  [`${KEY_PREFIX}0123456789ABCDEF, ${KEY_PREFIX}0123456789ABCDEF`, false],
  ['', false],
])('hasKeyForm(%j) is %p', (text, expected) => {
  expect(hasKeyForm(text)).toBe(expected);
});

test.each([UUID, UUID.toUpperCase(), NIL, 'FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF'])('accepts the UUID %s', (text) => {
  expect(canonicalUuid(text)).toBe(text.toLowerCase());
});

test.each([
  '',
  'me',
  UUID.slice(1),
  `${UUID}0`,
  UUID.replaceAll('-', ''),
  `{${UUID}}`,
  `urn:uuid:${UUID}`,
  ` ${UUID}`,
  `${UUID}\n`,
  UUID.replace('6', 'g'),
  UUID.replace('f', 'ｆ'),
  '6f1c2a345-b6d-4e7f-8a9b-0c1d2e3f4a5b',
])('rejects %j as a UUID with an error that does not repeat it', (text) => {
  try {
    canonicalUuid(text);
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    expect(error).toMatchObject({ code: 'invalid_parameter', status: 400 });
    if (text.length > 2) expect(JSON.stringify([error.message, error.hint, error.fieldErrors])).not.toContain(text);
  }
});
