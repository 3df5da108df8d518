import { afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test';
import type { Engine } from '../../src/cluster/postgres-engine.ts';
import { postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { createRows, engineAt, insertRow, rowsOf, untilDone } from '../support/rows-table.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { rejectionOf } from '../support/thrown.ts';

const server = await postgresForTests();
let engine: Engine;
beforeAll(async () => {
  if (server === undefined) return;
  await createRows(server);
}, 60_000);
beforeEach(async () => {
  if (server === undefined) return;
  engine = engineAt(server);
  await server.query('truncate rows', USER);
});
afterEach(() => engine?.close());

const BREAKS = [
  ['before COMMIT', 'insert', 'arrives', false, [] as number[]],
  ['after COMMIT has arrived', 'commit\0', 'arrives', true, [1]],
  ['before COMMIT has arrived', 'commit\0', 'is lost', true, []],
] as const;

describe('the deadline', () => {
  testWithPostgres('ends a transaction whose statement is slow, and the statement ends too', async () => {
    const startedAt = performance.now();
    const slow = engine.transaction(
      async (sql) => {
        await insertRow(1)(sql);
        await sql`select pg_sleep(30)`;
      },
      { deadlineMs: 300 },
    );
    expect(await rejectionOf(Error, slow)).toMatchObject({
      name: 'EngineAway',
      reason: 'deadline',
      outcomeUnknown: false,
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await server.until(
      `select count(*) = 0 as holds from pg_stat_activity where query like '%pg_sleep(30)%' and pid <> pg_backend_pid()`,
    );
    expect(await rowsOf(server)).toEqual([]);
  });

  testWithPostgres('ends a transaction whose work never ends, and nothing is committed later', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endless = engine.transaction(
      async (sql) => {
        await insertRow(1)(sql);
        await promise;
      },
      { deadlineMs: 200 },
    );
    expect(await rejectionOf(Error, endless)).toMatchObject({ reason: 'deadline', outcomeUnknown: false });
    resolve();
    await engine.transaction(insertRow(2));
    expect(await rowsOf(server)).toEqual([2]);
  });

  testWithPostgres('ends a wait for a lock', async () => {
    await engine.transaction(insertRow(1));
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = engine.transaction(async (sql) => {
      await sql`update rows set note = 'held'`;
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const waiting = engine.transaction((sql) => sql`update rows set note = 'waited'`, { deadlineMs: 200 });
    expect(await rejectionOf(Error, waiting)).toMatchObject({ name: 'EngineAway', reason: 'deadline' });
    held.resolve();
    await holder;
  });
});

describe('a connection that breaks', () => {
  const through = async (work: (proxy: TcpProxy, engine: Engine) => Promise<void>) => {
    await using proxy = await startTcpProxy(server.port);
    const own = engineAt(proxy, { deadlineMs: 800, connectMs: 700 });
    await work(proxy, own);
    await own.close();
  };

  for (const [moment, statement, fate, outcomeUnknown, stored] of BREAKS) {
    testWithPostgres(`${moment}: the error says whether the outcome is known`, () =>
      through(async (proxy, own) => {
        proxy.onSent = (piece) => {
          if (!piece.includes(statement)) return;
          // The proxy forwards the piece right after this call.
          if (fate === 'arrives') queueMicrotask(() => proxy.cut());
          else proxy.cut();
        };
        expect(await rejectionOf(Error, own.transaction(insertRow(1)))).toMatchObject({
          name: 'EngineAway',
          reason: 'deadline',
          outcomeUnknown,
        });
        expect(await rowsOf(server)).toEqual([...stored]);
        proxy.onSent = () => {};
        expect(await rejectionOf(Error, own.transaction(insertRow(2)))).toMatchObject({
          reason: 'unreachable',
          outcomeUnknown: false,
        });
        proxy.heal();
        await untilDone(() => own.transaction(insertRow(3)));
        expect(await rowsOf(server)).toEqual([...stored, 3]);
      }),
    );
  }

  testWithPostgres('leaves a statement to the deadline of the server, which cannot know of the cut', () =>
    through(async (proxy, own) => {
      const running = rejectionOf(
        Error,
        own.transaction((sql) => sql`select pg_sleep(40)`),
      );
      const sleeping = `from pg_stat_activity where query like '%pg_sleep(40)%' and pid <> pg_backend_pid()`;
      await server.until(`select count(*) = 1 as holds ${sleeping}`);
      proxy.cut();
      expect(await running).toMatchObject({ reason: 'deadline' });
      await server.until(`select count(*) = 0 as holds ${sleeping} and state = 'active'`);
    }),
  );

  testWithPostgres('while it is idle is replaced before the next transaction', async () => {
    await engine.transaction(insertRow(1));
    await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zomma/r1'`);
    while (engine.state.host !== null) await new Promise(setImmediate);
    expect(engine.state.problem).toContain('terminating connection due to administrator command');
    await engine.transaction(insertRow(2));
    expect(await rowsOf(server)).toEqual([1, 2]);
  });

  testWithPostgres('in a transaction loses the transaction', async () => {
    const broken = engine.transaction(async (sql) => {
      await insertRow(1)(sql);
      const [{ pid }] = await sql`select pg_backend_pid() as pid`;
      await server.query(`select pg_terminate_backend(${pid})`);
      await insertRow(2)(sql);
    });
    expect(await rejectionOf(Error, broken)).toMatchObject({
      name: 'EngineAway',
      reason: 'lost',
      outcomeUnknown: false,
    });
    expect(await rowsOf(server)).toEqual([]);
  });

  testWithPostgres('ends the statement at the server', async () => {
    const own = engineAt(server);
    const running = rejectionOf(
      Error,
      own.transaction((sql) => sql`select pg_sleep(50)`, { deadlineMs: 60_000 }),
    );
    const sleeping = `from pg_stat_activity where query like '%pg_sleep(50)%' and pid <> pg_backend_pid()`;
    await server.until(`select count(*) = 1 as holds ${sleeping}`);
    await own.close();
    expect(await running).toMatchObject({ name: 'EngineAway', reason: 'closed' });
    await server.until(`select count(*) = 0 as holds ${sleeping}`);
  });
});
