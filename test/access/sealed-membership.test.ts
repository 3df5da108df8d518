import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { openMembership, type SealedMembership, sealMembership } from '../../src/access/sealed-membership.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { errorOf } from '../support/thrown.ts';

const SECRET = new Uint8Array(32).fill(7);
const CONTENT: SealedMembership = {
  madeAtMs: 1_767_643_200_000,
  membership: {
    members: [
      {
        ...{ uuid: '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90', tier: 'pro', status: 'revoked', expiresAt: null },
        ...{ accountId: '0123456789abcdef', generation: 2, keyDigest: 'ab'.repeat(32) },
        ...{ previousDigest: 'cd'.repeat(32), previousUntil: 1_767_643_300_000 },
      },
    ],
    links: [],
    audit: [],
  },
};
const sealed = sealMembership(CONTENT, SECRET);
const changed = (at: number, bytes = sealed) => bytes.with(at, bytes[at]! ^ 1);
/** The file with a new digest, as somebody would write it who has changed it on purpose. */
const withDigest = (bytes: Uint8Array) => {
  const text = bytes.subarray(0, -32);
  return Buffer.concat([text, createHash('sha256').update(text).digest()]);
};

test('a file opens under its secret alone, has no readable UUID, and is never the same twice', () => {
  expect(openMembership(sealed, SECRET, 'file')).toEqual(CONTENT);
  expect(Buffer.from(sealed).includes('7b1f3c1e')).toBe(false);
  expect(Buffer.from(sealMembership(CONTENT, SECRET)).equals(sealed)).toBe(false);
});

const [DAMAGED, SECRET_DIFFERS] = [/is damaged, or is no export/, /is sealed under another secret/];
test.each<[string, Uint8Array, RegExp, Uint8Array?]>([
  ['an empty file', new Uint8Array(), DAMAGED],
  ['only the mark', sealed.subarray(0, 8), DAMAGED],
  ['another kind of file', new TextEncoder().encode('ticker,strike\n'.repeat(20)), DAMAGED],
  ['a file without its last byte', sealed.subarray(0, -1), DAMAGED],
  ['a file with a byte more', Buffer.concat([sealed, new Uint8Array(1)]), DAMAGED],
  [
    'a short file with a right digest',
    withDigest(Buffer.concat([sealed.subarray(0, 20), new Uint8Array(32)])),
    DAMAGED,
  ],
  ['a newer version', withDigest(sealed.with(8, 2)), /newer version of Zomma/],
  ['another secret', sealed, SECRET_DIFFERS, SECRET.with(31, 8)],
  ['a text that was changed on purpose', withDigest(changed(60)), SECRET_DIFFERS],
  ['a salt that was changed on purpose', withDigest(changed(9)), SECRET_DIFFERS],
  ['a tag that was changed on purpose', withDigest(changed(sealed.length - 33)), SECRET_DIFFERS],
])('%s is refused in one sentence', (_name, bytes, message, secret = SECRET) => {
  const error = errorOf(OperatorError, () => openMembership(bytes, secret, 'members.zomma'));
  expect([error.message, error.hint]).toEqual([
    expect.stringMatching(message),
    expect.stringContaining('othing was imported'),
  ]);
  expect(error.message).toStartWith('members.zomma ');
});

test('a change of any byte is noticed', () => {
  const opened = Array.from(sealed.keys()).filter((at) => {
    try {
      openMembership(changed(at), SECRET, 'file');
      return true;
    } catch (error) {
      return !DAMAGED.test((error as Error).message);
    }
  });
  expect(opened).toEqual([]);
});
