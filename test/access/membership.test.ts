import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Access, createAccess } from '../../src/access/access.ts';
import { auditEntryOf } from '../../src/access/audit.ts';
import { type ImportCounts, importMembership, type Membership, membershipOf } from '../../src/access/membership.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';

/** Members who travel from one server to another. Both have the same secret. */
const SECRET = new Uint8Array(32).fill(7);
const UUIDS = [1, 2, 3].map((n) => `6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a${n}f`) as [string, string, string];
const [ONE] = UUIDS;
const NOTHING = { added: 0, changed: 0, revoked: 0, staysRevoked: 0, audit: 0 };

interface Peer extends Disposable {
  readonly store: Store;
  readonly access: Access;
  take(from: Peer | Membership, isSync?: boolean): ImportCounts;
  /** Returns whether a key is admitted. */
  admits(key: string): boolean;
}

/** The clock of both servers. Each change takes a second. */
let nowMs = Date.UTC(2026, 10, 2);

/** Each change has a moment of its own. */
function tick(): number {
  nowMs += 1_000;
  return nowMs;
}

function peer(): Peer {
  const store = openStore(':memory:', () => nowMs);
  const secret = {
    read: () => [SECRET] as const,
    readNext: () => undefined,
    writeNext: () => SECRET,
    adoptNext() {},
    removeNext() {},
  };
  const access = createAccess({ members: store, secret, nowMs: tick });
  return {
    store,
    access,
    take: (from, isSync = false) =>
      store.transaction(() =>
        importMembership('store' in from ? membershipOf(from.store) : from, isSync, {
          store,
          audit: (event) => store.saveAudit(auditEntryOf(event, tick())),
        }),
      ),
    admits(key) {
      try {
        return access.authenticate(key).isAdmitted();
      } catch {
        return false;
      }
    },
    [Symbol.dispose]: () => store.close(),
  };
}

const NEW_KEY = { keyDigest: 'ab'.repeat(32), previousDigest: 'cd'.repeat(32), previousUntil: 9e12 };
type Step = (a: Peer, b: Peer) => unknown;
const both: Step = async (a, b) => {
  for (const { access } of [a, b]) await access.addMember({ uuid: ONE });
};

describe.each([false, true])('with isSync %p', (isSync) => {
  test.each<[string, Step, Partial<ImportCounts>, object]>([
    ['a member of the source alone is added', (a) => a.access.addMember({ uuid: ONE }), { added: 1 }, {}],
    [
      'a revoked member of the source alone is added as revoked',
      async (a) => {
        await a.access.addMember({ uuid: ONE });
        await a.access.revoke(ONE);
      },
      { added: 1 },
      { status: 'revoked' },
    ],
    ['a member who is the same on both stays', both, {}, {}],
    [
      'a revocation at the source travels',
      async (a, b) => {
        await both(a, b);
        await a.access.revoke(ONE);
      },
      { revoked: 1 },
      { status: 'revoked' },
    ],
    [
      'a member who is revoked at the target stays revoked',
      async (a, b) => {
        await both(a, b);
        await b.access.revoke(ONE);
      },
      { staysRevoked: 1 },
      { status: 'revoked' },
    ],
    [
      'a revocation that the source has lifted is not lifted at the target',
      async (a, b) => {
        await both(a, b);
        await a.access.revoke(ONE);
        b.take(a);
        await a.access.addMember({ uuid: ONE });
      },
      { staysRevoked: 1 },
      { status: 'revoked' },
    ],
    [
      'tier and expiry that were changed later at the source travel',
      async (a, b) => {
        await both(a, b);
        await a.access.addMember({ uuid: ONE, tier: 'pro', expiresAt: 9e12 });
      },
      { changed: 1 },
      { tier: 'pro', expiresAt: 9e12 },
    ],
    [
      'tier and expiry that were changed later at the target stay, unless the import makes both equal',
      async (a, b) => {
        await both(a, b);
        await b.access.addMember({ uuid: ONE, tier: 'none' });
      },
      { changed: Number(isSync) },
      { tier: isSync ? 'member' : 'none' },
    ],
    [
      'a key that was replaced at the source is replaced',
      async (a, b) => {
        await both(a, b);
        await a.access.rekey(ONE);
      },
      { changed: 1 },
      { generation: 1 },
    ],
    [
      'the keys of a new secret at the source travel, with the time for which the old ones work',
      async (a, b) => {
        await both(a, b);
        a.store.saveMember({ ...a.store.member(ONE)!, ...NEW_KEY });
      },
      { changed: 1 },
      NEW_KEY,
    ],
    [
      'a key that was replaced at the target does not come back',
      async (a, b) => {
        await both(a, b);
        await b.access.rekey(ONE);
      },
      {},
      { generation: 1 },
    ],
    [
      'a member of the target alone stays, unless the import makes both equal',
      (_, b) => b.access.addMember({ uuid: ONE }),
      { revoked: Number(isSync) },
      { status: isSync ? 'revoked' : 'active' },
    ],
  ])('%s', async (_name, prepare, expected, fields) => {
    using a = peer();
    using b = peer();
    await prepare(a, b);
    const counts = b.take(a, isSync);
    expect(counts).toEqual({ ...NOTHING, ...expected, audit: counts.audit });
    expect(b.store.member(ONE)).toMatchObject({ tier: 'member', status: 'active', expiresAt: null, ...fields });
    expect(b.take(a, isSync)).toEqual({ ...NOTHING, staysRevoked: counts.staysRevoked });
  });
});

test('keys work and are refused at the target as at the source', async () => {
  using a = peer();
  using b = peer();
  const { apiKey: first } = await a.access.addMember({ uuid: ONE });
  expect(b.admits(first)).toBe(false);
  b.take(a);
  expect(b.admits(first)).toBe(true);
  const { apiKey: second } = await a.access.rekey(ONE);
  b.take(a);
  expect([b.admits(first), b.admits(second)]).toEqual([false, true]);
  expect(await b.access.issueKey(ONE, '203.0.113.9')).toBe(second);
  await a.access.revoke(ONE);
  b.take(a);
  expect(b.admits(second)).toBe(false);
});

test('the entries of the accounts travel once, in the order of their times, and the import is an entry', async () => {
  using a = peer();
  using b = peer();
  await both(a, b);
  const accountId = b.store.member(ONE)!.accountId;
  await a.access.issueKey(ONE, '203.0.113.9');
  await b.access.rekey(ONE);
  await expect(a.access.revoke(UUIDS[1])).rejects.toThrow();
  expect(b.take(a).audit).toBe(2);
  const rows = b.store.auditSince(0);
  expect(rows.map(({ action, account, client }) => [action, account, client])).toEqual([
    ['member_added', accountId, null],
    ['member_added', accountId, null],
    ['key_issued', accountId, '203.0.113.9'],
    ['member_rekeyed', accountId, null],
    ['members_imported', null, null],
  ]);
  expect(rows.at(-1)!.detail).toBe('0 added, 0 changed, 0 revoked, audit entries: 2');
});

test('of a full trail, only entries among its newest travel, and issued keys displace no others', async () => {
  using a = peer();
  using b = peer();
  await both(a, b);
  for (let i = 0; i < 6; i++) await a.access.issueKey(ONE, `203.0.113.${i}`);
  await b.access.issueKey(ONE, '203.0.113.100');
  const { store } = b;
  const take = () =>
    store.transaction(() => importMembership(membershipOf(a.store), false, { store, audit() {}, keptMax: 3 }));
  expect(take().audit).toBe(3);
  const clients = store.auditSince(0).flatMap(({ action, client }) => (action === 'key_issued' ? [client] : []));
  expect(clients).toEqual(['203.0.113.4', '203.0.113.5', '203.0.113.100']);
  expect(take().audit).toBe(0);
});

test('a link to Telegram travels, and the later link stays', async () => {
  using a = peer();
  using b = peer();
  await both(a, b);
  const link = (telegramId: string, lastPingAt: number) => ({
    ...{ telegramId, lastPingAt },
    ...{ routing1dte: true, routingRadar: false },
  });
  await a.access.linkTelegram(ONE, link('5550123456', 5));
  expect(b.take(a)).toMatchObject({ changed: 1 });
  expect(b.store.telegramLink(ONE)).toEqual(link('5550123456', 5));
  await b.access.linkTelegram(ONE, link('5559999999', 6));
  expect(b.take(a)).toMatchObject({ changed: 0 });
  expect(b.take(a, true)).toMatchObject({ changed: 1 });
  expect(b.store.telegramLink(ONE)).toEqual(link('5550123456', 5));
});

test('an import that fails changes nothing', async () => {
  using a = peer();
  using b = peer();
  for (const uuid of UUIDS) await a.access.addMember({ uuid });
  const given = membershipOf(a.store);
  const [first, , last] = given.members;
  const faulty = { ...given, members: [...given.members.slice(0, 2), { ...last!, keyDigest: first!.keyDigest }] };
  expect(() => b.take(faulty)).toThrow();
  expect([b.store.members(), b.store.auditSince(0)]).toEqual([[], []]);
});

/** Changes at either server, in any order, with imports in between. */
const CHANGES = fc.array(
  fc.record({
    at: fc.constantFrom('a', 'b'),
    uuid: fc.constantFrom(...UUIDS),
    change: fc.constantFrom('add', 'pro', 'none', 'revoke', 'rekey', 'take', 'sync'),
  }),
  { maxLength: 25 },
);

test('whatever happens before: no revocation is lifted, no replaced key comes back, and both servers become equal', async () => {
  await fc.assert(
    fc.asyncProperty(CHANGES, fc.boolean(), async (changes, isSync) => {
      using a = peer();
      using b = peer();
      const replaced: string[] = [];
      const act = async ({ at, uuid, change }: (typeof changes)[number]) => {
        const [own, other] = at === 'a' ? [a, b] : [b, a];
        if (change === 'take' || change === 'sync') return void own.take(other, change === 'sync');
        if (change === 'add') return void (await own.access.addMember({ uuid }));
        if (own.store.member(uuid) === undefined) return;
        if (change === 'revoke') return void (await own.access.revoke(uuid));
        if (change !== 'rekey') return void (await own.access.addMember({ uuid, tier: change }));
        replaced.push((await own.access.addMember({ uuid })).apiKey);
        await own.access.rekey(uuid);
      };
      for (const each of changes) await act(each);
      const revoked = b.store.members().filter(({ status }) => status === 'revoked');
      b.take(a, isSync);
      for (const { uuid } of revoked) expect(b.store.member(uuid)!.status).toBe('revoked');
      expect(b.take(a, isSync)).toMatchObject({ added: 0, changed: 0, revoked: 0, audit: 0 });
      a.take(b);
      expect(membershipOf(a.store).members).toEqual(membershipOf(b.store).members);
      expect(new Set(membershipOf(a.store).audit.map((row) => JSON.stringify(row)))).toEqual(
        new Set(membershipOf(b.store).audit.map((row) => JSON.stringify(row))),
      );
      for (const key of replaced) expect([a.admits(key), b.admits(key)]).toEqual([false, false]);
    }),
    { numRuns: 150 },
  );
});
