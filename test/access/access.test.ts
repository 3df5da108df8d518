import { beforeEach, describe, expect, test } from 'bun:test';
import { type Access, createAccess } from '../../src/access/access.ts';
import { keyDigest } from '../../src/access/api-key.ts';
import type { AuditEntry } from '../../src/access/audit.ts';
import type { Member } from '../../src/access/members.ts';
import type { SecretFile } from '../../src/access/secret.ts';
import { ClientError } from '../../src/core/errors.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

const NOW_MS = 1_767_643_200_000;
const SECRET = new Uint8Array(32).fill(7);
const [ACTIVE, NONE, REVOKED, EXPIRED, FUTURE_TIER, UNKNOWN] = [1, 2, 3, 4, 5, 6].map(
  (n) => `6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a${n}f`,
) as [string, string, string, string, string, string];

let store: Store;
let access: Access;
let nowMs: number;
let secretLoads = 0;
let entries: AuditEntry[];
const keys = new Map<string, string>();
const CLIENT = '203.0.113.9';
/** A secret in memory, whose reads are counted. */
function secretInMemory(bytes: Uint8Array): SecretFile & { next: Uint8Array | undefined } {
  return {
    next: undefined,
    read() {
      secretLoads++;
      return this.next ? [bytes, this.next] : [bytes];
    },
    readNext() {
      return this.next;
    },
    writeNext() {
      this.next = crypto.getRandomValues(new Uint8Array(32));
      return this.next;
    },
    adoptNext() {
      bytes = this.next!;
      this.next = undefined;
    },
    removeNext() {
      this.next = undefined;
    },
  };
}

let secret: ReturnType<typeof secretInMemory>;
/** The ledger of the store, whose audit entries go to `saveAudit`. */
const recordedBy =
  (saveAudit: Store['saveAudit']): Store['write'] =>
  (work) =>
    store.write((tx) => work({ ...tx, saveAudit }));
const accessUnder = (file: SecretFile) =>
  createAccess({
    members: { ...store, write: recordedBy((entry) => void entries.push(entry)) },
    secret: file,
    nowMs: () => nowMs,
  });

beforeEach(async () => {
  store = openStore(':memory:', Date.now);
  nowMs = NOW_MS;
  secretLoads = 0;
  entries = [];
  secret = secretInMemory(SECRET);
  access = accessUnder(secret);
  for (const [uuid, request] of [
    [ACTIVE, {}],
    [NONE, { tier: 'none' }],
    [REVOKED, { tier: 'pro' }],
    [EXPIRED, { expiresAt: NOW_MS }],
    [FUTURE_TIER, {}],
  ] as const) {
    keys.set(uuid, (await access.addMember({ uuid, ...request })).apiKey);
  }
  await access.revoke(REVOKED);
  // A tier that only a newer version knows.
  store.saveMember({ ...store.member(FUTURE_TIER)!, tier: 'platinum' });
});

const failureOf = (act: () => unknown) => errorOf(ClientError, act);
const refusalOf = (work: Promise<unknown>) => rejectionOf(ClientError, work);

/** Every field of a failure that a caller can see. */
function visible({ code, message, status, title, hint, fieldErrors }: ClientError) {
  return { code, message, status, title, hint, fieldErrors };
}

test('addMember returns a working key, and issueKey returns the same key', async () => {
  const { member, apiKey } = await access.addMember({ uuid: ACTIVE.toUpperCase(), tier: 'pro' });
  const digest = keyDigest(apiKey);
  const key = { generation: 0, keyDigest: digest, previousDigest: null, previousUntil: null };
  const expected: Member = {
    uuid: ACTIVE,
    tier: 'pro',
    status: 'active',
    expiresAt: null,
    accountId: digest.slice(0, 16),
    ...key,
  };
  expect(member).toEqual(expected);
  expect(store.member(ACTIVE)).toEqual(expected);
  expect(await access.issueKey(ACTIVE, CLIENT)).toBe(apiKey);
  expect(await access.issueKey(ACTIVE.toUpperCase(), CLIENT)).toBe(apiKey);
  expect(access.authenticate(apiKey)).toMatchObject({ id: digest.slice(0, 16), tier: 'pro' });
});

test('a member added without a tier gets the tier `member`', () => {
  expect(access.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
});

test('an account id is unique per member and reveals neither the member nor the key', async () => {
  const other = (await access.addMember({ uuid: UNKNOWN })).apiKey;
  const [a, b] = [access.authenticate(keys.get(ACTIVE)!), access.authenticate(other)];
  expect(a.id).not.toBe(b.id);
  expect(a.id).toMatch(/^[0-9a-f]{16}$/);
  expect(JSON.parse(JSON.stringify(a))).toEqual({ id: a.id, tier: 'member', expiresAt: null });
});

test('an account is admitted until its key is revoked', async () => {
  const { apiKey } = await access.addMember({ uuid: UNKNOWN });
  const account = access.authenticate(apiKey);
  expect(account.isAdmitted()).toBe(true);
  await access.revoke(UNKNOWN);
  expect(account.isAdmitted()).toBe(false);
});

test('issueKey rejects every ineligible member with the same error', async () => {
  const uuids = [UNKNOWN, NONE, REVOKED, EXPIRED, FUTURE_TIER];
  const refusals = await Promise.all(uuids.map((uuid) => refusalOf(access.issueKey(uuid, CLIENT))));
  for (const refusal of refusals) expect(visible(refusal)).toEqual(visible(refusals[0]!));
  expect(refusals[0]).toMatchObject({ code: 'member_refused', status: 403 });
  expect(await refusalOf(access.issueKey('me', CLIENT))).toMatchObject({ code: 'invalid_parameter', status: 400 });
});

test.each([
  ['no header', null],
  ['an empty header', ''],
])('returns 401 if the key is missing: %s', (_, header) => {
  expect(failureOf(() => access.authenticate(header))).toMatchObject({ code: 'key_missing', status: 401 });
});

test('rejects every invalid, revoked or expired key with the same error', () => {
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

test('nobody is admitted while a revocation might have been missed, and streams that are open go on', async () => {
  let areCurrent = true;
  const shared = createAccess({ members: store, secret, nowMs: () => nowMs, areMembersCurrent: () => areCurrent });
  const key = keys.get(ACTIVE)!;
  const account = shared.authenticate(key);
  areCurrent = false;
  for (const refusal of [
    failureOf(() => shared.authenticate(key)),
    failureOf(() => shared.isMember(ACTIVE)),
    await refusalOf(shared.issueKey(ACTIVE, CLIENT)),
  ])
    expect(refusal).toMatchObject({ code: 'unavailable', status: 503 });
  expect(account.isAdmitted()).toBe(true);
  areCurrent = true;
  expect(shared.authenticate(key).id).toBe(account.id);
});

test('membership ends exactly at its expiry', async () => {
  const { apiKey } = await access.addMember({ uuid: UNKNOWN, expiresAt: NOW_MS + 1000 });
  nowMs = NOW_MS + 999;
  expect(await access.issueKey(UNKNOWN, CLIENT)).toBe(apiKey);
  expect(access.authenticate(apiKey).tier).toBe('member');
  nowMs = NOW_MS + 1000;
  expect((await refusalOf(access.issueKey(UNKNOWN, CLIENT))).code).toBe('member_refused');
  expect(failureOf(() => access.authenticate(apiKey)).code).toBe('key_invalid');
});

test('a revocation takes effect at once and lasts until the member is added again', async () => {
  const key = keys.get(ACTIVE)!;
  expect(await access.revoke(ACTIVE.toUpperCase())).toMatchObject({ uuid: ACTIVE, status: 'revoked' });
  expect((await access.revoke(ACTIVE)).status).toBe('revoked');
  expect(failureOf(() => access.authenticate(key)).code).toBe('key_invalid');
  expect((await access.addMember({ uuid: ACTIVE })).apiKey).toBe(key);
  expect(access.authenticate(key).tier).toBe('member');
  expect(store.members()).toHaveLength(5);
});

test.each([
  ['an invalid UUID', { uuid: 'me' }],
  ['an unknown tier', { uuid: UNKNOWN, tier: 'gold' }],
  ['a tier named like a property of every object', { uuid: UNKNOWN, tier: 'constructor' }],
  ['an expiry that is not a number', { uuid: UNKNOWN, expiresAt: Number.NaN }],
  ['an expiry with a fraction of a millisecond', { uuid: UNKNOWN, expiresAt: NOW_MS + 0.5 }],
])('addMember rejects %s and stores nothing', async (_, request) => {
  expect((await refusalOf(access.addMember(request))).code).toBe('invalid_parameter');
  expect(store.members()).toHaveLength(5);
});

test('no error contains a UUID, a key or a key digest', async () => {
  const key = keys.get(REVOKED)!;
  for (const failure of [
    await refusalOf(access.issueKey(REVOKED, CLIENT)),
    await refusalOf(access.issueKey(`${REVOKED}0`, CLIENT)),
    await refusalOf(access.revoke(UNKNOWN)),
    failureOf(() => access.authenticate(key)),
    failureOf(() => access.authenticate(`${key},${key}`)),
    await refusalOf(access.addMember({ uuid: REVOKED, tier: 'gold' })),
  ]) {
    const text = JSON.stringify({ ...visible(failure), stack: failure.stack, cause: failure.cause });
    for (const hidden of [REVOKED, UNKNOWN, key, keyDigest(key), key.slice(6)]) expect(text).not.toContain(hidden);
  }
});

test('the secret is read only when a key is derived', async () => {
  const asked = (): never => {
    throw new Error('asked');
  };
  const quiet = accessUnder({ ...secret, read: asked });
  expect(quiet.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
  await quiet.revoke(ACTIVE);
  await expect(quiet.issueKey(ACTIVE, CLIENT)).rejects.toThrow('asked');
});

test('under a changed secret, issueKey refuses members like strangers, because the derived key would not work', async () => {
  const moved = accessUnder(secretInMemory(SECRET.with(0, 1)));
  expect([access.isSecretOfMembers(), moved.isSecretOfMembers()]).toEqual([true, false]);
  const refusalIn = async (uuid: string) => {
    secretLoads = 0;
    return { ...visible(await refusalOf(moved.issueKey(uuid, CLIENT))), secretLoads };
  };
  const [known, stranger] = [await refusalIn(ACTIVE), await refusalIn(UNKNOWN)];
  expect(known).toEqual(stranger!);
  // Keys that were issued before still work. Adding the member again issues the new key.
  expect(moved.authenticate(keys.get(ACTIVE)!).tier).toBe('member');
  const { apiKey } = await moved.addMember({ uuid: ACTIVE });
  expect(await moved.issueKey(ACTIVE, CLIENT)).toBe(apiKey);
  expect(failureOf(() => moved.authenticate(keys.get(ACTIVE)!)).code).toBe('key_invalid');
});

test('each change and each issued key is recorded with the account, and a refused one changes nothing', async () => {
  entries = [];
  const idOf = (uuid: string) => keyDigest(keys.get(uuid)!).slice(0, 16);
  const { apiKey } = await access.addMember({ uuid: UNKNOWN, expiresAt: Date.UTC(2027, 0) });
  await access.addMember({ uuid: ACTIVE, tier: 'pro' });
  await access.revoke(EXPIRED);
  await access.linkTelegram(ACTIVE, { telegramId: 'a-handle', routing1dte: true, routingRadar: false, lastPingAt: 1 });
  await access.issueKey(ACTIVE, CLIENT);
  const link = { telegramId: 'a-handle', routing1dte: true, routingRadar: true, lastPingAt: 1 };
  const stranger = ACTIVE.replace('6f1c', '0000');
  expect((await refusalOf(access.linkTelegram(stranger, link))).code).toBe('not_found');
  expect((await refusalOf(access.revoke(stranger))).code).toBe('not_found');
  expect((await refusalOf(access.issueKey(REVOKED, CLIENT))).code).toBe('member_refused');
  const shown = entries.map(({ action, account, client, result, detail }) => [action, account, client, result, detail]);
  expect(shown).toEqual([
    ['member_added', keyDigest(apiKey).slice(0, 16), null, 'done', 'tier member, expires 2027-01-01T00:00:00.000Z'],
    ['member_changed', idOf(ACTIVE), null, 'done', 'tier pro, does not expire'],
    ['member_revoked', idOf(EXPIRED), null, 'done', null],
    ['telegram_linked', idOf(ACTIVE), null, 'done', 'routing_1dte on, routing_radar off'],
    ['key_issued', idOf(ACTIVE), CLIENT, 'done', null],
    ['telegram_linked', null, null, 'not_found', null],
    ['member_revoked', null, null, 'not_found', null],
  ]);
  for (const hidden of [ACTIVE, UNKNOWN, apiKey, 'a-handle']) expect(JSON.stringify(entries)).not.toContain(hidden);
});

test('a change that cannot be recorded is not made', async () => {
  const full = (): never => {
    throw new Error('the disk is full');
  };
  const members = { ...store, write: recordedBy(full) };
  const unrecorded = createAccess({ members, secret, nowMs: () => nowMs });
  const before = store.members();
  for (const change of [
    () => unrecorded.addMember({ uuid: UNKNOWN }),
    () => unrecorded.revoke(ACTIVE),
    () => unrecorded.rekey(ACTIVE),
    () => unrecorded.rotateSecret(0),
  ])
    await expect(change()).rejects.toThrow('full');
  expect([store.members(), secret.next]).toEqual([before, undefined]);
});

describe('replaced keys', () => {
  /** Whether the server accepts a key. */
  const works = (key: string): boolean => {
    try {
      access.authenticate(key);
      return true;
    } catch {
      return false;
    }
  };

  test('rekey replaces the key at once, and nothing else', async () => {
    const old = (await access.addMember({ uuid: ACTIVE, tier: 'pro', expiresAt: NOW_MS + 5 })).apiKey;
    const [account, before] = [access.authenticate(old), store.member(ACTIVE)!];
    entries = [];
    const { member, apiKey } = await access.rekey(ACTIVE.toUpperCase());
    expect([works(old), works(apiKey), account.isAdmitted(), await access.issueKey(ACTIVE, CLIENT)]).toEqual([
      ...[false, true, false],
      apiKey,
    ]);
    expect(member).toEqual({ ...before, generation: 1, keyDigest: keyDigest(apiKey) });
    expect(access.authenticate(apiKey).id).toBe(account.id);
    expect(entries[0]).toMatchObject({ action: 'member_rekeyed', account: account.id });
    expect((await access.addMember({ uuid: ACTIVE })).apiKey).toBe(apiKey);
    expect((await access.rekey(ACTIVE)).apiKey).not.toBe(apiKey);
    expect((await access.rekey(REVOKED)).member.status).toBe('revoked');
    expect((await refusalOf(access.rekey(UNKNOWN))).code).toBe('not_found');
  });

  test('a rotation replaces all keys, and the old ones work until the end of the grace period', async () => {
    const old = keys.get(ACTIVE)!;
    const { apiKey: second } = await access.rekey(FUTURE_TIER);
    store.saveMember({ ...store.member(FUTURE_TIER)!, tier: 'member' });
    const [account, ids] = [access.authenticate(old), store.members().map(({ accountId }) => accountId)];
    expect(await access.rotateSecret(1_000)).toEqual({ count: 5, untilMs: NOW_MS + 1_000 });
    const issued = await access.issueKey(ACTIVE, CLIENT);
    expect([issued === old, works(old), works(second), works(issued), account.isAdmitted()]).toEqual([
      ...[false, true, true, true, true],
    ]);
    expect([works(keys.get(REVOKED)!), works(keys.get(FUTURE_TIER)!)]).toEqual([false, false]);
    expect(store.members().map(({ accountId }) => accountId)).toEqual(ids);
    nowMs += 999;
    expect(works(old)).toBe(true);
    nowMs += 1;
    expect([works(old), account.isAdmitted(), works(issued)]).toEqual([false, false, true]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a second rotation', () => access.rotateSecret(5_000)],
    ['a rotation without grace', () => access.rotateSecret(0)],
    ['a replaced key', () => access.rekey(ACTIVE)],
    ['a revocation', () => access.revoke(ACTIVE)],
  ])('%s ends the grace period of an earlier rotation', async (_, end) => {
    const old = keys.get(ACTIVE)!;
    await access.rotateSecret(5_000);
    await access.addMember({ uuid: ACTIVE, tier: 'pro' });
    expect(works(old)).toBe(true);
    await end();
    expect(works(old)).toBe(false);
  });

  test.each([
    ['before the members have new keys', true],
    ['after the members have new keys', false],
  ])('a rotation that is interrupted %s is settled, and no member is refused meanwhile', async (_, isEarly) => {
    const old = keys.get(ACTIVE)!;
    const interrupted: SecretFile = { ...secret, adoptNext: () => {}, writeNext: () => secret.writeNext() };
    if (isEarly) secret.writeNext();
    else await accessUnder({ ...interrupted, read: () => secret.read(), readNext: () => secret.next }).rotateSecret(0);
    expect(secret.next).toBeDefined();
    const issued = await access.issueKey(ACTIVE, CLIENT);
    expect([works(issued), issued === old, access.isSecretOfMembers()]).toEqual([true, isEarly, true]);
    await access.openSecret();
    expect([secret.next, await access.issueKey(ACTIVE, CLIENT)]).toEqual([undefined, issued]);
    expect(works((await access.rekey(ACTIVE)).apiKey)).toBe(true);
  });
});
