import { beforeEach, expect, test } from 'bun:test';
import { type Access, createAccess } from '../../src/access/access.ts';
import { keyDigest } from '../../src/access/api-key.ts';
import type { Member } from '../../src/access/members.ts';
import { Failure, OperatorError } from '../../src/errors.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';

const NOW_MS = 1_767_643_200_000;
const SECRET = new Uint8Array(32).fill(7);
const [ACTIVE, NONE, REVOKED, EXPIRED, FUTURE_TIER, UNKNOWN] = [1, 2, 3, 4, 5, 6].map(
  (n) => `6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a${n}f`,
) as [string, string, string, string, string, string];

let store: Store;
let access: Access;
let nowMs: number;
let secretsAsked: number;
const keys = new Map<string, string>();

beforeEach(() => {
  store = openStore(':memory:');
  nowMs = NOW_MS;
  secretsAsked = 0;
  access = createAccess({
    members: store,
    secret: () => {
      secretsAsked++;
      return SECRET;
    },
    now: () => nowMs,
  });
  for (const [uuid, request] of [
    [ACTIVE, {}],
    [NONE, { tier: 'none' }],
    [REVOKED, { tier: 'pro' }],
    [EXPIRED, { expiresAt: NOW_MS }],
    [FUTURE_TIER, {}],
  ] as const) {
    keys.set(uuid, access.addMember({ uuid, ...request }).apiKey);
  }
  access.revoke(REVOKED);
  // As a newer version might write it.
  store.saveMember({ ...store.member(FUTURE_TIER)!, tier: 'platinum' });
});

function failureOf(act: () => unknown): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('was not refused');
}

/** All that a caller can see of a refusal. */
function visible({ code, message, status, title, hint, faults }: Failure) {
  return { code, message, status, title, hint, faults };
}

test('a member added has a key that works, and my-key gives the same one', () => {
  const { member, apiKey } = access.addMember({ uuid: ACTIVE.toUpperCase(), tier: 'pro' });
  const digest = keyDigest(apiKey);
  const expected: Member = { uuid: ACTIVE, tier: 'pro', status: 'active', expiresAt: null, keyDigest: digest };
  expect(member).toEqual(expected);
  expect(store.member(ACTIVE)).toEqual(expected);
  expect(access.issueKey(ACTIVE)).toBe(apiKey);
  expect(access.issueKey(ACTIVE.toUpperCase())).toBe(apiKey);
  expect(access.authenticate(apiKey)).toMatchObject({ id: digest.slice(0, 16), tier: 'pro' });
});

test('the tier of a member added without one is eligible', () => {
  expect(access.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
});

test('an account tells nothing of member or key, and differs from member to member', () => {
  const other = access.addMember({ uuid: UNKNOWN }).apiKey;
  const [a, b] = [access.authenticate(keys.get(ACTIVE)!), access.authenticate(other)];
  expect(a.id).not.toBe(b.id);
  expect(a.id).toMatch(/^[0-9a-f]{16}$/);
  expect(JSON.parse(JSON.stringify(a))).toEqual({ id: a.id, tier: 'member' });
});

test('an account is admitted as long as its key is good', () => {
  const { apiKey } = access.addMember({ uuid: UNKNOWN });
  const account = access.authenticate(apiKey);
  expect(account.isAdmitted()).toBe(true);
  access.revoke(UNKNOWN);
  expect(account.isAdmitted()).toBe(false);
});

test('my-key refuses all who may not have one in the same way', () => {
  const refusals = [UNKNOWN, NONE, REVOKED, EXPIRED, FUTURE_TIER].map((uuid) => failureOf(() => access.issueKey(uuid)));
  for (const refusal of refusals) expect(visible(refusal)).toEqual(visible(refusals[0]!));
  expect(refusals[0]).toMatchObject({ code: 'member_refused', status: 403 });
  expect(failureOf(() => access.issueKey('me'))).toMatchObject({ code: 'invalid_parameter', status: 400 });
});

test.each([
  ['none', null],
  ['empty', ''],
])('a missing key is 401: %s', (_, header) => {
  expect(failureOf(() => access.authenticate(header))).toMatchObject({ code: 'key_missing', status: 401 });
});

test('any key that is not good now is refused in the same way', () => {
  const good = keys.get(ACTIVE)!;
  const headers = [
    keys.get(NONE)!,
    keys.get(REVOKED)!,
    keys.get(EXPIRED)!,
    keys.get(FUTURE_TIER)!,
    'ZOMMA_0000000000000000',
    good.replace('ZOMMA_', 'OTHER_'),
    good.replace('ZOMMA_', ''),
    good.toLowerCase(),
    good.slice(0, -1),
    `${good}, ${good}`,
    `${good},${keys.get(REVOKED)}`,
    `Bearer ${good}`,
    ACTIVE,
    keyDigest(good),
    ' ',
  ];
  const refusals = headers.map((header) => failureOf(() => access.authenticate(header)));
  for (const refusal of refusals) expect(visible(refusal)).toEqual(visible(refusals[0]!));
  expect(refusals[0]).toMatchObject({ code: 'key_invalid', status: 403 });
});

test('membership ends at its expiry, not before', () => {
  const { apiKey } = access.addMember({ uuid: UNKNOWN, expiresAt: NOW_MS + 1000 });
  nowMs = NOW_MS + 999;
  expect(access.issueKey(UNKNOWN)).toBe(apiKey);
  expect(access.authenticate(apiKey).tier).toBe('member');
  nowMs = NOW_MS + 1000;
  expect(failureOf(() => access.issueKey(UNKNOWN)).code).toBe('member_refused');
  expect(failureOf(() => access.authenticate(apiKey)).code).toBe('key_invalid');
});

test('a revocation holds at once and again, until the member is added anew', () => {
  const key = keys.get(ACTIVE)!;
  expect(access.revoke(ACTIVE.toUpperCase())).toMatchObject({ uuid: ACTIVE, status: 'revoked' });
  expect(access.revoke(ACTIVE).status).toBe('revoked');
  expect(failureOf(() => access.authenticate(key)).code).toBe('key_invalid');
  expect(access.addMember({ uuid: ACTIVE }).apiKey).toBe(key);
  expect(access.authenticate(key).tier).toBe('member');
  expect(store.members()).toHaveLength(5);
});

test.each([
  ['a UUID that is none', { uuid: 'me' }],
  ['an unknown tier', { uuid: UNKNOWN, tier: 'gold' }],
  ['a tier by a name all objects have', { uuid: UNKNOWN, tier: 'constructor' }],
  ['an expiry that is no time', { uuid: UNKNOWN, expiresAt: Number.NaN }],
  ['an expiry between two milliseconds', { uuid: UNKNOWN, expiresAt: NOW_MS + 0.5 }],
])('%s is refused at adding and nothing kept', (_, request) => {
  expect(failureOf(() => access.addMember(request)).code).toBe('invalid_parameter');
  expect(store.members()).toHaveLength(5);
});

test('no refusal holds a UUID, a key or its digest', () => {
  const key = keys.get(REVOKED)!;
  for (const failure of [
    failureOf(() => access.issueKey(REVOKED)),
    failureOf(() => access.issueKey(`${REVOKED}0`)),
    failureOf(() => access.revoke(UNKNOWN)),
    failureOf(() => access.authenticate(key)),
    failureOf(() => access.authenticate(`${key},${key}`)),
    failureOf(() => access.addMember({ uuid: REVOKED, tier: 'gold' })),
  ]) {
    const text = JSON.stringify({ ...visible(failure), stack: failure.stack, cause: failure.cause });
    for (const hidden of [REVOKED, UNKNOWN, key, keyDigest(key), key.slice(6)]) expect(text).not.toContain(hidden);
  }
});

test('the secret is asked for once, and only when a key is derived', () => {
  expect(secretsAsked).toBe(1);
  const quiet = createAccess({
    members: store,
    secret: () => {
      throw new Error('asked');
    },
    now: () => nowMs,
  });
  expect(quiet.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
  quiet.revoke(ACTIVE);
  expect(() => quiet.issueKey(ACTIVE)).toThrow('asked');
});

test('under another secret a key that would not work is not handed out', () => {
  const moved = createAccess({ members: store, secret: () => SECRET.with(0, 1), now: () => nowMs });
  expect(() => moved.issueKey(ACTIVE)).toThrow(OperatorError);
  // Keys already handed out go on working, and adding the member again gives the new one.
  expect(moved.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
  const { apiKey } = moved.addMember({ uuid: ACTIVE });
  expect(moved.issueKey(ACTIVE)).toBe(apiKey);
  expect(failureOf(() => moved.authenticate(keys.get(ACTIVE)!)).code).toBe('key_invalid');
});
