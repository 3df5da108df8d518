import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { type EngineAway, EngineRefused } from '../../src/cluster/engine-errors.ts';
import { type Engine, type EngineOptions, openEngine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { PASSWORD, type PostgresServer, startIfInstalled, testWithPostgres, USER } from '../support/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

let server: PostgresServer;
let engine: Engine;
beforeAll(async () => {
  server = (await startIfInstalled())!;
  await server?.query(
    'create table rows (n int primary key, note text); create table deferred (n int unique deferrable initially deferred)',
    USER,
  );
  await server?.query(`grant all on all tables in schema public to ${USER}`, USER);
}, 60_000);
beforeEach(async () => {
  if (server === undefined) return;
  engine = open(server.port);
  await server.query('truncate rows, deferred', USER);
});
afterEach(() => engine?.close());
afterAll(() => server?.[Symbol.asyncDispose]());

function open(port: number, options: Partial<EngineOptions> = {}): Engine {
  const text = `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${USER}`;
  return openEngine(parseStoreUrl(text, { env: {} }), { replica: 'r1', ...options });
}

const numbers = async () => (await server.query('select n from rows order by n', USER)).map(({ n }) => n);
const insert = (n: number) => (sql: Transaction) => sql`insert into rows values (${n})`;
/** Returns the error of work that must fail. */
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('nothing was thrown');
    },
    (error: EngineAway | EngineRefused) => error,
  );

const REFUSALS = [
  ['a unique key', (sql: Transaction) => sql`insert into rows values (1), (1)`, 'sql', '23505', 'duplicate key value'],
  [
    'a constraint that COMMIT checks',
    (sql: Transaction) => sql`insert into deferred values (1), (1)`,
    'sql',
    '23505',
    'duplicate key value',
  ],
  [
    'a missing table',
    (sql: Transaction) => sql`select * from none`,
    'schema',
    '42P01',
    'relation "none" does not exist',
  ],
  ['a missing right', (sql: Transaction) => sql`select * from pg_authid`, 'rights', '42501', 'permission denied'],
  ['a wrong syntax', (sql: Transaction) => sql`selec 1`, 'schema', '42601', 'syntax error'],
  ['a wrong value', (sql: Transaction) => sql`select ${'x'}::int`, 'sql', '22P02', 'invalid input syntax'],
  [
    'an error that the work swallowed',
    (sql: Transaction) => sql`select 1/0`.catch(() => {}),
    'sql',
    '25P02',
    'has rolled back a transaction after an error',
  ],
] as const;

const BREAKS = [
  ['before COMMIT', 'insert', 'arrives', false, [] as number[]],
  ['after COMMIT has arrived', 'commit\0', 'arrives', true, [1]],
  ['before COMMIT has arrived', 'commit\0', 'is lost', true, []],
] as const;

describe('the end of a transaction', () => {
  testWithPostgres('commits what the work did, and returns its result', async () => {
    const result = await engine.transaction(async (sql) => {
      await sql`insert into rows ${sql([
        { n: 1, note: 'a' },
        { n: 2, note: null },
      ])}`;
      return await sql`select sum(n) as sum, max(note) as note from rows`;
    });
    expect([...result]).toEqual([{ sum: 3n, note: 'a' }]);
    expect(await numbers()).toEqual([1, 2]);
    expect(engine.state).toMatchObject({ host: server.address, timeline: 1, problem: null });
    expect(performance.now() - engine.state.lastContactMs!).toBeLessThan(5_000);
  });

  testWithPostgres('rolls back after an error of the work, and throws this error', async () => {
    const own = new RangeError('of the work');
    const failing = engine.transaction(async (sql) => {
      await insert(1)(sql);
      throw own;
    });
    expect((await errorOf(failing)) as Error).toBe(own);
    await engine.transaction(insert(2));
    expect(await numbers()).toEqual([2]);
  });

  for (const [cause, work, reason, sqlState, message] of REFUSALS) {
    testWithPostgres(`${cause} is refused, and the session goes on`, async () => {
      const error = await errorOf(
        engine.transaction(async (sql) => {
          await insert(7)(sql);
          await work(sql);
        }),
      );
      expect(error).toBeInstanceOf(EngineRefused);
      expect(error).toMatchObject({ reason, sqlState, message: expect.stringContaining(message) });
      const before = engine.state.sinceMs;
      await engine.transaction(insert(8));
      expect(await numbers()).toEqual([8]);
      expect(engine.state.sinceMs).toBe(before);
    });
  }

  testWithPostgres('rejects a query that comes after it', async () => {
    let late: Transaction | undefined;
    await engine.transaction(async (sql) => {
      late = sql;
    });
    const second = engine.transaction(async (sql) => {
      const error = await errorOf(insert(1)(late!));
      await insert(2)(sql);
      return error;
    });
    expect(String(await second)).toContain('Connection closed');
    expect(await numbers()).toEqual([2]);
  });
});

describe('the options', () => {
  testWithPostgres('isolate the reads of a transaction', async () => {
    const counts = (isolation: 'read committed' | 'repeatable read') =>
      engine.transaction(
        async (sql) => {
          const count = async () => (await sql`select count(*)::int as count from rows`)[0].count;
          const first = await count();
          await server.query(
            `insert into rows select max(n) + 1 from (select n from rows union select 0) as all_rows`,
            USER,
          );
          return [first, await count()];
        },
        { isolation },
      );
    expect(await counts('read committed')).toEqual([0, 1]);
    expect(await counts('repeatable read')).toEqual([1, 1]);
  });

  testWithPostgres('forbid writes, which is not mistaken for a standby', async () => {
    const error = await errorOf(engine.transaction(insert(1), { readOnly: true }));
    expect(error).toMatchObject({ name: 'EngineRefused', reason: 'sql', sqlState: '25006' });
  });

  testWithPostgres('name two transactions that change one row as a conflict', async () => {
    await engine.transaction(insert(1));
    const conflicting = engine.transaction(
      async (sql) => {
        await sql`select * from rows`;
        await server.query(`update rows set note = 'other'`, USER);
        await sql`update rows set note = 'own'`;
      },
      { isolation: 'repeatable read' },
    );
    expect(await errorOf(conflicting)).toMatchObject({ name: 'EngineRefused', reason: 'conflict', sqlState: '40001' });
  });

  testWithPostgres('bound the transactions at once', async () => {
    const two = open(server.port, { sessionsMax: 2 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holding = [1, 2].map((n) =>
      two.transaction(async (sql) => {
        await insert(n)(sql);
        await released;
      }),
    );
    const third = await errorOf(two.transaction(insert(3), { deadlineMs: 100 }));
    expect(third).toMatchObject({ name: 'EngineAway', reason: 'full' });
    const fourth = two.transaction(insert(4));
    release();
    await Promise.all([...holding, fourth]);
    expect(await numbers()).toEqual([1, 2, 4]);
    await server.until(`select count(*) = 2 as holds from pg_stat_activity where application_name = 'zomma/r1'`);
    await two.close();
    expect(await errorOf(two.transaction(insert(5)))).toMatchObject({ reason: 'closed' });
  });
});

describe('the deadline', () => {
  testWithPostgres('ends a transaction whose statement is slow, and the statement ends too', async () => {
    const startedAt = performance.now();
    const slow = engine.transaction(
      async (sql) => {
        await insert(1)(sql);
        await sql`select pg_sleep(30)`;
      },
      { deadlineMs: 300 },
    );
    expect(await errorOf(slow)).toMatchObject({ name: 'EngineAway', reason: 'deadline', outcomeUnknown: false });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await server.until(
      `select count(*) = 0 as holds from pg_stat_activity where query like '%pg_sleep(30)%' and pid <> pg_backend_pid()`,
    );
    expect(await numbers()).toEqual([]);
  });

  testWithPostgres('ends a transaction whose work never ends, and nothing is committed later', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endless = engine.transaction(
      async (sql) => {
        await insert(1)(sql);
        await promise;
      },
      { deadlineMs: 200 },
    );
    expect(await errorOf(endless)).toMatchObject({ reason: 'deadline', outcomeUnknown: false });
    resolve();
    await engine.transaction(insert(2));
    expect(await numbers()).toEqual([2]);
  });

  testWithPostgres('ends a wait for a lock', async () => {
    await engine.transaction(insert(1));
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = engine.transaction(async (sql) => {
      await sql`update rows set note = 'held'`;
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const waiting = engine.transaction((sql) => sql`update rows set note = 'waited'`, { deadlineMs: 200 });
    expect(await errorOf(waiting)).toMatchObject({ name: 'EngineAway', reason: 'deadline' });
    held.resolve();
    await holder;
  });
});

describe('a connection that breaks', () => {
  const through = async (work: (proxy: TcpProxy, engine: Engine) => Promise<void>) => {
    await using proxy = await startTcpProxy(server.port);
    const own = open(proxy.port, { deadlineMs: 400, connectMs: 300 });
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
        expect(await errorOf(own.transaction(insert(1)))).toMatchObject({
          name: 'EngineAway',
          reason: 'deadline',
          outcomeUnknown,
        });
        expect(await numbers()).toEqual([...stored]);
        proxy.onSent = () => {};
        expect(await errorOf(own.transaction(insert(2)))).toMatchObject({
          reason: 'unreachable',
          outcomeUnknown: false,
        });
        proxy.heal();
        await own.transaction(insert(3));
        expect(await numbers()).toEqual([...stored, 3]);
      }),
    );
  }

  testWithPostgres('leaves a statement to the deadline of the server, which cannot know of the cut', () =>
    through(async (proxy, own) => {
      const running = errorOf(own.transaction((sql) => sql`select pg_sleep(40)`));
      const sleeping = `from pg_stat_activity where query like '%pg_sleep(40)%' and pid <> pg_backend_pid()`;
      await server.until(`select count(*) = 1 as holds ${sleeping}`);
      proxy.cut();
      expect(await running).toMatchObject({ reason: 'deadline' });
      await server.until(`select count(*) = 0 as holds ${sleeping} and state = 'active'`);
    }),
  );

  testWithPostgres('while it is idle is replaced before the next transaction', async () => {
    await engine.transaction(insert(1));
    await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zomma/r1'`);
    while (engine.state.host !== null) await new Promise(setImmediate);
    expect(engine.state.problem).toContain('terminating connection due to administrator command');
    await engine.transaction(insert(2));
    expect(await numbers()).toEqual([1, 2]);
  });

  testWithPostgres('in a transaction loses the transaction', async () => {
    const broken = engine.transaction(async (sql) => {
      await insert(1)(sql);
      const [{ pid }] = await sql`select pg_backend_pid() as pid`;
      await server.query(`select pg_terminate_backend(${pid})`);
      await insert(2)(sql);
    });
    expect(await errorOf(broken)).toMatchObject({ name: 'EngineAway', reason: 'lost', outcomeUnknown: false });
    expect(await numbers()).toEqual([]);
  });

  testWithPostgres('ends the statement at the server', async () => {
    const own = open(server.port);
    const running = errorOf(own.transaction((sql) => sql`select pg_sleep(50)`, { deadlineMs: 60_000 }));
    const sleeping = `from pg_stat_activity where query like '%pg_sleep(50)%' and pid <> pg_backend_pid()`;
    await server.until(`select count(*) = 1 as holds ${sleeping}`);
    await own.close();
    expect(await running).toMatchObject({ name: 'EngineAway', reason: 'closed' });
    await server.until(`select count(*) = 0 as holds ${sleeping}`);
  });
});
