import { afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { EngineRefused } from '../../src/cluster/engine-errors.ts';
import type { Engine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { createRows, engineAt, insertRow, rowsOf } from '../support/rows-table.ts';
import { rejectionOf } from '../support/thrown.ts';

const server = await postgresForTests();
let engine: Engine;
beforeAll(async () => {
  if (server === undefined) return;
  await createRows(server);
  await server.query('create table deferred (n int unique deferrable initially deferred)', USER);
  await server.query(`grant all on deferred to ${USER}`, USER);
}, 60_000);
beforeEach(async () => {
  if (server === undefined) return;
  engine = engineAt(server);
  await server.query('truncate rows, deferred', USER);
});
afterEach(() => engine?.close());

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
    expect(await rowsOf(server)).toEqual([1, 2]);
    expect(engine.state).toMatchObject({ host: server.address, timeline: 1, problem: null });
    expect(performance.now() - engine.state.lastContactMs!).toBeLessThan(5_000);
  });

  testWithPostgres('rolls back after an error of the work, and throws this error', async () => {
    const own = new RangeError('of the work');
    const failing = engine.transaction(async (sql) => {
      await insertRow(1)(sql);
      throw own;
    });
    expect((await rejectionOf(Error, failing)) as Error).toBe(own);
    await engine.transaction(insertRow(2));
    expect(await rowsOf(server)).toEqual([2]);
  });

  for (const [cause, work, reason, sqlState, message] of REFUSALS) {
    testWithPostgres(`${cause} is refused, and the session goes on`, async () => {
      const error = await rejectionOf(
        Error,
        engine.transaction(async (sql) => {
          await insertRow(7)(sql);
          await work(sql);
        }),
      );
      expect(error).toBeInstanceOf(EngineRefused);
      expect(error).toMatchObject({ reason, sqlState, message: expect.stringContaining(message) });
      const before = engine.state.sinceMs;
      await engine.transaction(insertRow(8));
      expect(await rowsOf(server)).toEqual([8]);
      expect(engine.state.sinceMs).toBe(before);
    });
  }

  testWithPostgres('is known if the server refuses COMMIT for a lack of room', async () => {
    await server.query(
      `create function fill() returns trigger language plpgsql as $$ begin raise 'no room' using errcode = '53100'; end $$;
      create constraint trigger full_disk after insert on rows deferrable initially deferred
      for each row when (new.n = 99) execute function fill()`,
      USER,
    );
    const error = await rejectionOf(Error, engine.transaction(insertRow(99)));
    expect(error).toMatchObject({ name: 'EngineAway', reason: 'full', outcomeUnknown: false });
    expect(error.message).toBe(`${server.address} lacks a resource: no room`);
    await engine.transaction(insertRow(1));
    expect(await rowsOf(server)).toEqual([1]);
  });

  testWithPostgres('rejects a query that comes after it', async () => {
    let late: Transaction | undefined;
    await engine.transaction(async (sql) => {
      late = sql;
    });
    const second = engine.transaction(async (sql) => {
      const error = await rejectionOf(Error, insertRow(1)(late!));
      await insertRow(2)(sql);
      return error;
    });
    expect(String(await second)).toContain('Connection closed');
    expect(await rowsOf(server)).toEqual([2]);
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
    const error = await rejectionOf(Error, engine.transaction(insertRow(1), { readOnly: true }));
    expect(error).toMatchObject({ name: 'EngineRefused', reason: 'sql', sqlState: '25006' });
  });

  testWithPostgres('name two transactions that change one row as a conflict', async () => {
    await engine.transaction(insertRow(1));
    const conflicting = engine.transaction(
      async (sql) => {
        await sql`select * from rows`;
        await server.query(`update rows set note = 'other'`, USER);
        await sql`update rows set note = 'own'`;
      },
      { isolation: 'repeatable read' },
    );
    expect(await rejectionOf(Error, conflicting)).toMatchObject({
      name: 'EngineRefused',
      reason: 'conflict',
      sqlState: '40001',
    });
  });

  testWithPostgres('bound the transactions at once', async () => {
    const two = engineAt(server, { sessionsMax: 2 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holding = [1, 2].map((n) =>
      two.transaction(async (sql) => {
        await insertRow(n)(sql);
        await released;
      }),
    );
    const third = await rejectionOf(Error, two.transaction(insertRow(3), { deadlineMs: 100 }));
    expect(third).toMatchObject({ name: 'EngineAway', reason: 'full' });
    const fourth = two.transaction(insertRow(4));
    release();
    await Promise.all([...holding, fourth]);
    expect(await rowsOf(server)).toEqual([1, 2, 4]);
    await server.until(`select count(*) = 2 as holds from pg_stat_activity where application_name = 'zomma/r1'`);
    await two.close();
    expect(await rejectionOf(Error, two.transaction(insertRow(5)))).toMatchObject({ reason: 'closed' });
  });
});
