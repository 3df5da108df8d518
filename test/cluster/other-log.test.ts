import { expect } from 'bun:test';
import { join } from 'node:path';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { EngineAway } from '../../src/cluster/engine-errors.ts';
import { inspectCluster } from '../../src/cluster/inspect-cluster.ts';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { openReplica } from '../../src/cluster/replica.ts';
import { openMirror } from '../../src/store/mirror.ts';
import { placeOfMirror } from '../../src/store/mirror-file.ts';
import { NOW_MS, rowsIn, WRITES } from '../store/every-write.ts';
import { PASSWORD, PostgresServer, testWithPostgres, USER } from '../support/postgres.ts';
import { withFolder } from '../support/process.ts';
import { urlOf } from '../support/rows-table.ts';

/** Opens a replica that follows the log only when it is asked to. */
async function openAt(path: string, ...hosts: readonly PostgresServer[]) {
  const engine = openEngine(urlOf(...hosts), { replica: 'r', connectMs: 400, deadlineMs: 2_000 });
  const mirror = openMirror(
    path,
    () => NOW_MS,
    () => {},
  );
  const ignored = () => {};
  try {
    await engine.transaction((sql) => openCluster(sql));
    const events = { onApplied: ignored, onRefill: ignored, onProblem: ignored };
    const replica = await openReplica({ engine, mirror, name: 'r', isSynchronous: false, ...events });
    const close = async () => {
      await replica.close();
      await engine.close();
    };
    return { engine, replica, [Symbol.asyncDispose]: close };
  } catch (error) {
    mirror.close();
    await engine.close();
    throw error;
  }
}

const awayOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: EngineAway) => error,
  );

testWithPostgres(
  'an old primary that is started again is not followed, and what the promoted one has is there again with it',
  () =>
    withFolder(async (folder) => {
      await using old = await PostgresServer.start();
      await using promoted = await old.standby();
      const path = join(folder, 'mirror');
      const write = (replica: Awaited<ReturnType<typeof openAt>>['replica'], n: number) =>
        replica.store.write((tx) => WRITES[n % WRITES.length]!(tx, n));
      const refused = `${old.address} has the timeline 1, which 2 has replaced`;
      {
        await using opened = await openAt(path, old, promoted);
        for (let n = 0; n < 20; n++) await write(opened.replica, n);
        const place = opened.replica.place();
        await promoted.until(`select max(place) = ${place} as holds from zomma.appends`, 'zomma');
        await old.kill();
        await promoted.promote();
        for (let n = 20; n < 40; ) if ((await awayOf(write(opened.replica, n))) === undefined) n++;

        await old.resume();
        await promoted.kill();
        await expectAwayOf(opened);
        expect(opened.engine.state.problem).toContain(refused);
      }
      const before = rowsIn(path);
      const restarted = await awayOf(openAt(path, old, promoted));
      expect(restarted).toBeInstanceOf(EngineAway);
      expect(restarted!.message).toContain(refused);
      const login = { store: `postgres://${USER}@${old.address},${promoted.address}/${USER}`, storePassword: PASSWORD };
      expect((await awayOf(inspectCluster(login, {}, placeOfMirror(path))))!.message).toContain(refused);
      expect(rowsIn(path)).toEqual(before);

      await promoted.resume();
      await old.kill();
      await using again = await openAt(path, old, promoted);
      await again.replica.catchUp();
      await write(again.replica, 40);
      await using other = await openAt(join(folder, 'other'), promoted);
      await other.replica.catchUp();
      expect(rowsIn(path)).toEqual(rowsIn(join(folder, 'other')));
    }),
  60_000,
);

/** The first attempt finds that the connection is lost, and the next ones that no host is the primary. */
async function expectAwayOf({ engine, replica }: Awaited<ReturnType<typeof openAt>>): Promise<void> {
  do expect(await awayOf(replica.catchUp())).toBeInstanceOf(EngineAway);
  while (!engine.state.problem?.startsWith('no primary'));
}

testWithPostgres('a log that is restored from a dump is copied anew, although it gives the same places again', () =>
  withFolder(async (folder) => {
    await using server = await PostgresServer.start();
    const [path, other] = [join(folder, 'mirror'), join(folder, 'other')];
    const dump = join(server.folder, 'dump.sql');
    const writeAll = async (at: string, from: number, to: number) => {
      await using opened = await openAt(at, server);
      for (let n = from; n < to; n++) await opened.replica.store.write((tx) => WRITES[n % WRITES.length]!(tx, n));
      return opened.replica.place();
    };
    await writeAll(path, 0, 5);
    await server.program('pg_dump', ['-d', 'zomma', '-f', dump]);
    const lost = await writeAll(path, 5, 10);
    await server.query('drop schema zomma cascade', 'zomma');
    await server.program('psql', ['-q', '-d', 'zomma', '-f', dump]);
    expect(await writeAll(other, 20, 35)).toBeGreaterThanOrEqual(lost);
    await using again = await openAt(path, server);
    await again.replica.catchUp();
    expect(rowsIn(path)).toEqual(rowsIn(other));
  }),
);
