import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { memberTables } from '../../src/store/member-tables.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';

const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

test('members of schema 13 keep their account and their key, and a key can be replaced', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 1));
  const digest = 'ab'.repeat(32);
  db.run(`INSERT INTO members VALUES ('${UUID}', 'pro', 'active', 5, '${digest}')`);
  migrate(db);
  const { member, memberByKeyDigest, saveMember } = memberTables(db);
  const known = member(UUID)!;
  expect(known).toEqual({
    ...{ uuid: UUID, tier: 'pro', status: 'active', expiresAt: 5, accountId: 'abababababababab', generation: 0 },
    ...{ keyDigest: digest, previousDigest: null, previousUntil: null },
  });
  const replaced = { ...known, generation: 1, keyDigest: 'cd', previousDigest: digest, previousUntil: 9 };
  saveMember({ ...replaced, accountId: 'another' });
  expect(member(UUID)).toEqual(replaced);
  expect([memberByKeyDigest('cd'), memberByKeyDigest(digest), memberByKeyDigest('ef')]).toEqual([
    ...[replaced, replaced],
    undefined,
  ]);
  expect(() => saveMember({ ...replaced, uuid: 'b', keyDigest: 'ef' })).toThrow('UNIQUE');
  const plan = db
    .query("EXPLAIN QUERY PLAN SELECT 1 FROM members WHERE key_digest = 'a' OR previous_digest = 'a'")
    .all();
  expect(JSON.stringify(plan)).not.toContain('SCAN');
});
