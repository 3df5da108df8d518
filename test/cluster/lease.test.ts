import { afterAll, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { Fenced, type HeldLease, releaseLease, renewLease, requireLease, takeLease } from '../../src/cluster/lease.ts';
import { type Engine, openEngine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { urlOf } from '../support/rows-table.ts';
import { rejectionOf } from '../support/thrown.ts';

let engine: Engine;
afterAll(() => engine?.close());
const server = await postgresForTests();
beforeAll(async () => {
  if (!server) return;
  engine = openEngine(urlOf(server), { replica: 'a' });
  await engine.transaction((sql) => openCluster(sql));
});
beforeEach(() => engine?.transaction((sql) => sql`delete from zomma.leases`));

const HOUR_MS = 3_600_000;
const run = <Result>(work: (sql: Transaction) => Promise<Result>) => engine.transaction(work);
const take = (holder: string, ttlMs = HOUR_MS, timeline = 1) =>
  run((sql) => takeLease(sql, { name: 'lead', holder, ttlMs, timeline }));
async function takeWhenFree(holder: string, timeline = 1): Promise<HeldLease> {
  for (;;) {
    const lease = await take(holder, HOUR_MS, timeline);
    if (lease) return lease;
  }
}
const renew = (lease: HeldLease, ttlMs = HOUR_MS, timeline = 1) =>
  run((sql) => renewLease(sql, lease, { ttlMs, timeline }));
const requires = (lease: HeldLease, timeline = 1) => run((sql) => requireLease(sql, lease, timeline));
const fences = (lease: HeldLease, timeline = 1) => rejectionOf(Fenced, requires(lease, timeline));

describe('a lease', () => {
  testWithPostgres('is held by one, until it is given up', async () => {
    const first = (await take('a'))!;
    expect(first).toMatchObject({ holder: 'a', isTakenOver: false });
    expect(await take('b')).toBeUndefined();
    // Another process of the same server is not the holder either.
    expect(await take('a')).toBeUndefined();
    await requires(first);
    await run((sql) => releaseLease(sql, first));
    await fences(first);
    const second = (await take('b'))!;
    expect(second).toMatchObject({ epoch: first.epoch + 1, isTakenOver: false });
    await fences(first);
    // What the first holder does now changes nothing.
    expect(await renew(first)).toBe(false);
    await run((sql) => releaseLease(sql, first));
    await requires(second);
  });

  testWithPostgres('that is not renewed is taken over, and its holder is fenced', async () => {
    const first = (await take('a', 100))!;
    expect(await renew(first, 300)).toBe(true);
    const second = await takeWhenFree('b');
    expect(second).toMatchObject({ epoch: first.epoch + 1, isTakenOver: true });
    expect(await renew(first)).toBe(false);
    await fences(first);
  });

  testWithPostgres('stays until the end of a write that has checked it', async () => {
    const first = (await take('a', 200))!;
    let taken: Promise<HeldLease | undefined> | undefined;
    let ended = 0;
    await run(async (sql) => {
      await requireLease(sql, first, 1);
      await sql`select pg_sleep(0.3)`;
      taken = take('b').finally(() => {
        expect(ended).toBeGreaterThan(0);
      });
      await sql`select pg_sleep(0.2)`;
      ended = performance.now();
    });
    expect(await taken).toMatchObject({ holder: 'b' });
  });

  testWithPostgres('gets an epoch above all that a fail-over may have lost', async () => {
    const first = (await take('a', 1, 3))!;
    expect(first.epoch).toBe(3e9);
    expect((await takeWhenFree('b', 4)).epoch).toBe(4e9);
  });

  testWithPostgres('ends by a promotion, because its holder works on what the promotion may have lost', async () => {
    const first = (await take('a'))!;
    expect(await renew(first, HOUR_MS, 2)).toBe(false);
    await fences(first, 2);
    const second = (await take('a', HOUR_MS, 2))!;
    // The same process has not crashed.
    expect(second).toMatchObject({ epoch: 2e9, isTakenOver: false });
    await requires(second, 2);
    expect(await take('b', HOUR_MS, 2)).toBeUndefined();
    expect(await take('b', HOUR_MS, 3)).toMatchObject({ epoch: 3e9, isTakenOver: true });
  });
});
