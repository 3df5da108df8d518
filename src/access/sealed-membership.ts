import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { OperatorError } from '../core/errors.ts';
import type { Membership } from './membership.ts';

/**
 * The members of a server in one file, encrypted and authenticated under the secret that the servers share (AES-256-GCM, with a key from
 * HKDF-SHA-256). Its parts are the mark, the version, the salt, the nonce, the encrypted text with its tag, and SHA-256 of all before it.
 * The digest tells a damaged file from one that is sealed under another secret.
 */
const MARK = Buffer.from('ZOMMAMEM');
const VERSION = 1;
const CIPHER = 'aes-256-gcm';
const [SALT_BYTES, NONCE_BYTES, TAG_BYTES, DIGEST_BYTES] = [16, 12, 16, 32];
const HEAD_BYTES = MARK.length + 1 + SALT_BYTES + NONCE_BYTES;

export interface SealedMembership {
  /** The time of the export, ms since the epoch. */
  readonly madeAtMs: number;
  readonly membership: Membership;
}

export function sealMembership(content: SealedMembership, secret: Uint8Array): Uint8Array {
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const head = Buffer.concat([MARK, Uint8Array.of(VERSION), salt, nonce]);
  const cipher = createCipheriv(CIPHER, keyOf(secret, salt), nonce);
  cipher.setAAD(head);
  const text = Bun.gzipSync(JSON.stringify(content));
  const sealed = Buffer.concat([head, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([sealed, digestOf(sealed)]);
}

/** Opens a sealed file. `name` is its name in errors. Throws `OperatorError` if it is damaged, of a newer version, or of another secret. */
export function openMembership(bytes: Uint8Array, secret: Uint8Array, name: string): SealedMembership {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sealed = file.subarray(0, -DIGEST_BYTES);
  const isWhole = isSealedMembership(file) && sealed.length >= HEAD_BYTES + TAG_BYTES;
  if (!isWhole || !digestOf(sealed).equals(file.subarray(-DIGEST_BYTES))) {
    throw new OperatorError(
      `${name} is damaged, or is no export of members`,
      'Export the members again with `zomma members export`. Nothing was imported.',
    );
  }
  const head = sealed.subarray(0, HEAD_BYTES);
  if (head[MARK.length] !== VERSION) {
    throw new OperatorError(
      `${name} was written by a newer version of Zomma`,
      'Upgrade this server first. Nothing was imported.',
    );
  }
  try {
    const salt = head.subarray(MARK.length + 1, MARK.length + 1 + SALT_BYTES);
    const decipher = createDecipheriv(CIPHER, keyOf(secret, salt), head.subarray(-NONCE_BYTES));
    decipher.setAAD(head);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
    return JSON.parse(new TextDecoder().decode(Bun.gunzipSync(text))) as SealedMembership;
  } catch (error) {
    throw new OperatorError(
      `${name} is sealed under another secret than the one of this server`,
      'Both servers need the same file "secret" in their data folders. Nothing was imported.',
      { cause: error },
    );
  }
}

/** Returns whether a file begins as an export of members. */
export function isSealedMembership(bytes: Uint8Array): boolean {
  return MARK.equals(bytes.subarray(0, MARK.length));
}

function keyOf(secret: Uint8Array, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, 'zomma/members/v1', 32));
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
