import { afterAll, beforeAll, expect } from 'bun:test';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { Fenced, renewLease, requireLease, takeLease } from '../../src/cluster/lease.ts';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { PASSWORD, type PostgresServer, startIfInstalled, testWithPostgres, USER } from '../support/postgres.ts';

let server: PostgresServer | undefined;
beforeAll(async () => {
  server = await startIfInstalled();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

testWithPostgres(
  'a lease ends by its time, by another holder, and by a promotion, and no epoch is given twice',
  async () => {
    const url = parseStoreUrl(`postgres://${USER}@${server!.address}/${USER}`, { env: { PGPASSWORD: PASSWORD } });
    const engine = openEngine(url, { replica: 'r' });
    const name = 'lead';
    const take = (holder: string, timeline = 1, ttlMs = 60_000) =>
      engine.transaction((sql) => takeLease(sql, { name, holder, ttlMs, timeline }));
    const renew = (lease: Parameters<typeof renewLease>[1], timeline = 1) =>
      engine.transaction((sql) => renewLease(sql, lease, { ttlMs: 60_000, timeline }));
    const write = (lease: Parameters<typeof renewLease>[1], timeline = 1) =>
      engine
        .transaction((sql) => requireLease(sql, lease, timeline))
        .then(
          () => 'may write',
          (error: unknown) => error instanceof Fenced && 'fenced',
        );
    await engine.transaction((sql) => openCluster(sql));
    try {
      const first = (await take('a', 1, 0))!;
      expect([await renew(first), await write(first)]).toEqual([false, 'fenced']);
      const second = (await take('b'))!;
      expect(second.epoch).toBeGreaterThan(first.epoch);
      expect([await take('c'), await renew(second), await write(second), await write(first)]).toEqual([
        undefined,
        true,
        'may write',
        'fenced',
      ]);
      // The primary of the next timeline may lack what the holder has written, though it still has the lease.
      expect([await renew(second, 2), await write(second, 2)]).toEqual([false, 'fenced']);
      const third = (await take('b', 2))!;
      expect([third.epoch > second.epoch, await write(third, 2), await take('c', 2)]).toEqual([
        true,
        'may write',
        undefined,
      ]);
    } finally {
      await engine.close();
    }
  },
);
