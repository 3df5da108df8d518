import { afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { join } from 'node:path';
import type { EngineAway } from '../../src/cluster/engine-errors.ts';
import { type Engine, type EngineOptions, openEngine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { PASSWORD, PostgresServer, postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { createRows, insertRow, rowsOf, untilDone, urlOf, urlTextOf } from '../support/rows-table.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const server = await postgresForTests();
let engine: Engine | undefined;
afterEach(() => engine?.close());

type Host = Pick<PostgresServer, 'address'>;

function open(servers: Host[], options: Partial<EngineOptions> = {}): Engine {
  engine = openEngine(urlOf(...servers), {
    replica: 'r1',
    connectMs: 500,
    deadlineMs: 1_000,
    ...options,
  });
  return engine;
}

async function startPair(synchronous = false): Promise<[primary: PostgresServer, standby: PostgresServer]> {
  const primary = await PostgresServer.start();
  await createRows(primary);
  return [primary, await primary.standby({ synchronous })];
}

describe('with a standby', () => {
  testWithPostgres(
    'the primary is found in any order, and again after it is lost',
    async () => {
      const [primary, standby] = await startPair();
      await using _a = primary;
      await using _b = standby;
      open([standby, primary]);
      const transaction = <T>(work: (sql: Transaction) => Promise<T>) => engine!.transaction(work);
      await transaction(insertRow(1));
      expect(engine!.state).toMatchObject({ host: primary.address, timeline: 1, problem: null });
      await standby.until('select count(*) = 1 as holds from rows', USER);

      await primary.kill();
      while (engine!.state.host !== null) await Bun.sleep(5);
      const away = await transaction(insertRow(2)).catch((error: EngineAway) => error);
      expect(away).toMatchObject({ name: 'EngineAway', reason: 'no-primary', outcomeUnknown: false });
      expect((away as EngineAway).message).toBe(
        `no primary among the hosts of --store: ${standby.address} is a standby, ${primary.address} cannot be reached`,
      );
      expect(engine!.state).toMatchObject({ host: null, timeline: null, problem: (away as EngineAway).message });

      await standby.promote();
      const startedAt = performance.now();
      await untilDone(() => transaction(insertRow(2)));
      expect(performance.now() - startedAt).toBeLessThan(3_000);
      expect(engine!.state).toMatchObject({ host: standby.address, timeline: 2, problem: null });
      expect(await rowsOf(standby)).toEqual([1, 2]);

      // Somebody starts the old primary again, as a primary: the newest timeline counts.
      await primary.resume();
      await engine!.close();
      await using slow = await startTcpProxy(standby.port);
      slow.cut();
      setTimeout(() => slow.heal(), 200);
      await open([primary, slow]).transaction(insertRow(3));
      expect(engine!.state).toMatchObject({ host: slow.address, timeline: 2 });
      expect(await rowsOf(primary)).toEqual([1]);
    },
    60_000,
  );

  testWithPostgres(
    'a promotion beside a primary that still runs is noticed',
    async () => {
      const [primary, standby] = await startPair();
      await using _a = primary;
      await using _b = standby;
      await open([primary, standby], { lookMs: 100 }).transaction(insertRow(1));
      await standby.until('select count(*) = 1 as holds from rows', USER);
      const released = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const holding = engine!.transaction(
        async (sql) => {
          await sql`select 1`;
          begun.resolve();
          await released.promise;
        },
        { deadlineMs: 20_000 },
      );
      await begun.promise;
      await standby.promote();
      while (engine!.state.host !== null) await Bun.sleep(10);
      expect(engine!.state.problem).toBe(`${standby.address} was promoted while ${primary.address} still runs`);
      // The transaction of the old primary ends there, and its session is not used again.
      released.resolve();
      await holding;
      await engine!.transaction(insertRow(2));
      expect(await rowsOf(standby)).toEqual([1, 2]);
      expect(await rowsOf(primary)).toEqual([1]);
    },
    60_000,
  );

  testWithPostgres(
    'COMMIT is not reported as done while the synchronous standby is silent',
    async () => {
      const [primary, standby] = await startPair(true);
      await using _a = primary;
      await using _b = standby;
      await open([primary, standby]).transaction(insertRow(1));
      // COMMIT waits until the standby has the transaction on disk, not until it can be read there.
      await standby.until('select count(*) = 1 as holds from rows', USER);
      standby.freeze();
      const error = await engine!.transaction(insertRow(2)).catch((error: EngineAway) => error);
      const message = `${primary.address} waits for a synchronous standby, which is away`;
      expect(error).toMatchObject({ name: 'EngineAway', reason: 'standby', outcomeUnknown: true, message });
      // The primary is not given up: what needs no standby goes on.
      expect(engine!.state).toMatchObject({ host: primary.address, problem: null });
      await engine!.transaction(insertRow(4), { isLocal: true });
      standby.thaw();
      await standby.until('select count(*) = 3 as holds from rows', USER);
      await untilDone(() => engine!.transaction(insertRow(3)));
      await standby.until('select array_agg(n order by n) = array[1, 2, 3, 4] as holds from rows', USER);
    },
    60_000,
  );
});

describe('one server', () => {
  beforeAll(async () => {
    if (server !== undefined) await createRows(server);
  }, 60_000);
  beforeEach(async () => {
    await server?.query('truncate rows', USER);
  });

  testWithPostgres(
    'that restarts is found again',
    async () => {
      const states: (string | null)[] = [];
      open([server], { onState: ({ host }) => states.push(host) });
      await engine!.transaction(insertRow(1));
      for (const end of ['kill', 'stop'] as const) {
        await server[end]();
        while (engine!.state.host !== null) await Bun.sleep(5);
        const error = await engine!.transaction(insertRow(2)).catch((error: EngineAway) => error);
        expect(error).toMatchObject({ name: 'EngineAway', reason: 'unreachable', outcomeUnknown: false });
        // The second call waits for the pause after the first one.
        const startedAt = performance.now();
        await engine!.transaction(insertRow(2)).catch(() => {});
        expect(performance.now() - startedAt).toBeGreaterThan(200);
        await server.resume();
        await untilDone(() => engine!.transaction(insertRow(end === 'kill' ? 2 : 3)));
      }
      expect(await rowsOf(server)).toEqual([1, 2, 3]);
      expect(states.filter((host, i) => host !== states[i - 1])).toEqual([
        ...[server.address, null, server.address, null, server.address],
      ]);
    },
    60_000,
  );

  testWithPostgres('that starts again is found although another host stays silent', async () => {
    await using silent = await startTcpProxy(server.port);
    silent.cut();
    await server.kill();
    open([server, silent], { connectMs: 5_000, deadlineMs: 8_000 });
    const work = engine!.transaction(insertRow(1));
    await server.resume();
    const startedAt = performance.now();
    await work;
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  testWithPostgres('that an operator makes read-only is not used until it can be written again', async () => {
    await open([server]).transaction(insertRow(1));
    const setReadOnly = async (is: 'on' | 'off') => {
      await server.query(`alter database ${USER} set default_transaction_read_only = ${is}`);
      await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zomma/r1'`);
    };
    const errorOf = () => engine!.transaction(insertRow(2)).catch((error: EngineAway) => error);
    // A session that is open keeps its default, so the work itself sets it.
    const inSession = engine!.transaction(async (sql) => {
      await sql`set transaction read only`;
      await insertRow(2)(sql);
    });
    expect(await inSession.catch((error: EngineAway) => error)).toMatchObject({ reason: 'no-primary' });
    expect(engine!.state).toMatchObject({ host: null, problem: `${server.address} is read-only` });
    await setReadOnly('on');
    while (engine!.state.host !== null) await Bun.sleep(5);
    expect(await errorOf()).toMatchObject({
      reason: 'no-primary',
      message: `no primary among the hosts of --store: ${server.address} is read-only`,
    });
    await setReadOnly('off');
    await untilDone(() => engine!.transaction(insertRow(3)));
    expect(await rowsOf(server)).toEqual([1, 3]);
  });

  testWithPostgres(
    'that freezes costs each transaction its deadline at most, and goes on when it thaws',
    async () => {
      await open([server]).transaction(insertRow(1));
      server.freeze();
      for (let i = 0; i < 3; i++) {
        const startedAt = performance.now();
        const error = await engine!.transaction(insertRow(9)).catch((error: EngineAway) => error);
        expect(error).toMatchObject({ name: 'EngineAway', outcomeUnknown: false });
        expect(performance.now() - startedAt).toBeLessThan(1_400);
      }
      server.thaw();
      await untilDone(() => engine!.transaction(insertRow(2)));
      expect(await rowsOf(server)).toEqual([1, 2]);
      expect(engine!.state).toMatchObject({ host: server.address, problem: null });
    },
    60_000,
  );

  testWithPostgres(
    'frees the locks of a client that freezes, and the client knows that its transaction is lost',
    async () => {
      await server.query('insert into rows values (1)', USER);
      const deadlineMs = 1_000;
      const script = join(import.meta.dir, 'frozen-client.ts');
      const child = Bun.spawn([process.execPath, script, urlTextOf(server), String(deadlineMs)], {
        stdin: 'pipe',
        stdout: 'pipe',
        env: { ...process.env, PGPASSWORD: PASSWORD },
      });
      const output = child.stdout
        .pipeThrough(new TextDecoderStream() as never)
        .getReader() as ReadableStreamDefaultReader<string>;
      expect((await output.read()).value).toBe('locked\n');
      child.kill('SIGSTOP');
      const startedAt = performance.now();
      await open([server], { deadlineMs: 5_000 }).transaction((sql) => sql`update rows set note = 'taken' where n = 1`);
      expect(performance.now() - startedAt).toBeLessThan(deadlineMs + 1_000);
      child.stdin.write('go on\n');
      child.stdin.flush();
      child.kill('SIGCONT');
      expect((await output.read()).value).toMatch(/^EngineAway (?:lost|deadline) false\n$/);
      expect(await child.exited).toBe(0);
      expect(await server.query('select * from rows', USER)).toEqual([{ n: 1, note: 'taken' }]);
    },
    60_000,
  );
});
