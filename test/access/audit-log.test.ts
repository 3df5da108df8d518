import { expect, test } from 'bun:test';
import type { AuditEntry, AuditStore } from '../../src/access/audit.ts';
import { startAuditLog } from '../../src/access/audit-log.ts';
import type { Observation } from '../../src/core/events.ts';

const entry: AuditEntry = {
  ...{ atMs: Date.UTC(2026, 10, 23), actor: 'zomma (uid 998)', client: null, action: 'member_added' },
  ...{ account: '0123456789abcdef', result: 'done', detail: null },
};

/** A trail whose entries cannot be marked while `isBusy`. */
function trail() {
  const entries = new Map<number, AuditEntry>();
  return {
    entries,
    isBusy: false,
    unloggedAudit: () => new Map(entries),
    saveAudit() {},
    auditSince: () => [],
    markAuditLogged(id: number) {
      if (this.isBusy) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      for (const each of entries.keys()) if (each <= id) entries.delete(each);
    },
    async write<Result>(work: (tx: AuditStore) => Result): Promise<Result> {
      return work(this);
    },
  };
}

test('an entry is reported before it is marked, and not again if it cannot be marked', async () => {
  const store = trail();
  const seen: Observation[] = [];
  store.entries.set(1, entry);
  store.isBusy = true;
  const stop = await startAuditLog(store, (each) => seen.push(each));
  expect(seen).toEqual([
    {
      ...{ kind: 'audited', at: '2026-11-23T00:00:00.000Z', actor: 'zomma (uid 998)', action: 'member_added' },
      ...{ account: '0123456789abcdef', result: 'done' },
    },
  ]);
  store.isBusy = false;
  store.entries.set(2, entry);
  await stop();
  expect(seen).toHaveLength(2);
  expect(store.entries.size).toBe(0);
});

test('an error that is not of the database is thrown', async () => {
  const store = trail();
  store.unloggedAudit = () => {
    throw new TypeError('a defect');
  };
  await expect(startAuditLog(store, () => {})).rejects.toThrow('a defect');
});
