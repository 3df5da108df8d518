import { expect, test } from 'bun:test';
import type { AuditEntry } from '../../src/access/audit.ts';
import { auditTable, saveAuditIn } from '../../src/store/audit-table.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { memoryDatabase, withStore, withStoreFile } from './samples.ts';

const entry = (atMs: number, action = 'member_added'): AuditEntry => ({
  ...{ atMs, actor: 'zomma (uid 998)', client: null, action, account: '0123456789abcdef' },
  ...{ result: 'done', detail: null },
});

test('entries are listed from a moment on, and are unlogged until a process marks them', () =>
  withStoreFile((server, path) => {
    const command = openStore(path, Date.now);
    for (const each of [entry(1), entry(2), entry(3)]) command.saveAudit(each);
    expect(server.auditSince(2)).toEqual([entry(2), entry(3)]);
    expect([...server.unloggedAudit()]).toEqual([1, 2, 3].map((id) => [id, entry(id)]));
    server.markAuditLogged(3);
    saveAuditIn(path, entry(4));
    expect([...server.unloggedAudit()]).toEqual([[4, entry(4)]]);
    command.close();
  }));

test('an entry does not change the version, so results that are cached by version stay valid', () =>
  withStore((store) => {
    const before = store.version();
    store.saveAudit(entry(1));
    store.markAuditLogged(1);
    expect(store.version()).toBe(before);
  }));

test('the oldest entries of each class are removed: issued keys never push out the changes of operators', () => {
  const audit = auditTable(memoryDatabase(), 50, 10);
  for (let i = 0; i < 30; i++) audit.saveAudit(entry(i));
  for (let i = 0; i < 1_000; i++) audit.saveAudit(entry(100 + i, 'key_issued'));
  const rows = audit.auditSince(0);
  expect(rows.filter(({ action }) => action === 'member_added').map(({ atMs }) => atMs)).toEqual(
    Array.from({ length: 30 }, (_, i) => i),
  );
  const issued = rows.filter(({ action }) => action === 'key_issued');
  expect(issued.length).toBeWithin(50, 61);
  expect(issued.at(-1)!.atMs).toBe(1_099);
});
