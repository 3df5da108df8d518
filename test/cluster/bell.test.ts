import { afterEach, describe, expect } from 'bun:test';
import { type Engine, type EngineOptions, openEngine } from '../../src/cluster/postgres-engine.ts';
import { postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { urlOf } from '../support/rows-table.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const server = await postgresForTests();
let engine: Engine | undefined;
afterEach(() => engine?.close());

function open(hosts: readonly { readonly address: string }[], options: Partial<EngineOptions> = {}): Engine {
  engine = openEngine(urlOf(...hosts), { replica: 'r1', connectMs: 400, ...options });
  return engine;
}

/** Counts the calls of a listener, and waits for the next one. */
function counter() {
  let next = Promise.withResolvers<void>();
  const bell = {
    count: 0,
    next: () => next.promise,
    ring() {
      bell.count += 1;
      next.resolve();
      next = Promise.withResolvers<void>();
    },
  };
  return bell;
}

const notify = (channel: string) => server.query(`select pg_notify('${channel}', '')`, USER);
const LISTENERS = `from pg_stat_activity where query ilike 'listen%'`;
const ended = async () => {
  await engine!.close();
  await server.until(`select count(*) = 0 as holds ${LISTENERS}`);
};

describe('a bell', () => {
  testWithPostgres('calls its listeners at the start and at each notification, until they are disposed', async () => {
    const [levels, other] = [counter(), counter()];
    open([server]);
    const first = levels.next();
    const listening = engine!.onBell('levels', levels.ring);
    await first;
    const second = other.next();
    using _other = engine!.onBell('other', other.ring);
    await second;
    // A second channel replaces the connection, which rings the first one again.
    const counts = [levels.count, other.count];
    const rung = levels.next();
    await notify('levels');
    await rung;
    expect([levels.count, other.count]).toEqual([counts[0]! + 1, counts[1]!]);

    // One function can listen several times. To dispose a listener twice does nothing.
    const twice = [engine!.onBell('other', other.ring), engine!.onBell('other', other.ring)];
    for (let i = 0; i < 2; i++) twice[0]![Symbol.dispose]();
    listening[Symbol.dispose]();
    const last = other.next();
    await notify('levels');
    await notify('other');
    await last;
    expect([levels.count, other.count]).toEqual([counts[0]! + 1, counts[1]! + 2]);
    await ended();
  });

  testWithPostgres('rings after its connection was ended and replaced', async () => {
    const bell = counter();
    open([server]);
    const first = bell.next();
    using _ = engine!.onBell('levels', bell.ring);
    await first;
    const again = bell.next();
    await server.query(`select pg_terminate_backend(pid) ${LISTENERS}`);
    await again;
    const rung = bell.next();
    await notify('levels');
    await rung;
    expect(bell.count).toBe(3);
  });

  testWithPostgres('rings after a restart of the server, without a call of the user', async () => {
    const bell = counter();
    open([server]);
    const first = bell.next();
    using _ = engine!.onBell('levels', bell.ring);
    await first;
    await server.kill();
    const again = bell.next();
    await server.resume();
    await again;
    expect(engine!.state).toMatchObject({ host: server.address, problem: null });
  });

  testWithPostgres('notices by its heartbeat that the network was cut', async () => {
    await using proxy = await startTcpProxy(server.port);
    const bell = counter();
    const states: (string | null)[] = [];
    open([proxy], { beatMs: 100, onState: ({ problem }) => states.push(problem) });
    const first = bell.next();
    using _ = engine!.onBell('levels', bell.ring);
    await first;
    proxy.cut();
    while (engine!.state.problem === null) await Bun.sleep(5);
    expect(engine!.state.host).toBeNull();
    const again = bell.next();
    proxy.heal();
    await again;
    expect(engine!.state).toMatchObject({ host: proxy.address, problem: null });
    expect(states.at(-1)).toBeNull();
  });

  testWithPostgres('notices that its own connection alone is silent', async () => {
    const bell = counter();
    open([server], { beatMs: 100 });
    const first = bell.next();
    using _ = engine!.onBell('levels', bell.ring);
    await first;
    const pid = Number((await server.query(`select pid ${LISTENERS}`))[0]!.pid);
    const again = bell.next();
    process.kill(pid, 'SIGSTOP');
    try {
      await again;
      const rung = bell.next();
      await notify('levels');
      await rung;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  testWithPostgres('keeps its connection while the heartbeats come back', async () => {
    const bell = counter();
    open([server], { beatMs: 20 });
    const first = bell.next();
    using _ = engine!.onBell('levels', bell.ring);
    await first;
    const pidOf = async () => (await server.query(`select pid ${LISTENERS}`))[0]!.pid;
    const pid = await pidOf();
    const beats = async () =>
      Number(
        (await server.query(`select sum(xact_commit) as n from pg_stat_database where datname = '${USER}'`))[0]!.n,
      );
    const before = await beats();
    while ((await beats()) < before + 10) await Bun.sleep(20);
    expect([await pidOf(), bell.count]).toEqual([pid, 1]);
  });

  testWithPostgres(
    'follows the primary to the standby',
    async () => {
      await using standby = await server.standby();
      const bell = counter();
      open([server, standby], { beatMs: 60_000 });
      const first = bell.next();
      using _ = engine!.onBell('levels', bell.ring);
      await first;
      // A frozen server ends no connection, so only the transactions of the user notice.
      server.freeze();
      await standby.promote();
      const again = bell.next();
      const ask = () =>
        engine!
          .transaction((sql) => sql`select 1`, { deadlineMs: 300 })
          .then(
            () => true,
            () => false,
          );
      while (!(await ask()));
      await again;
      expect(engine!.state).toMatchObject({ host: standby.address, timeline: 2 });
      const rung = bell.next();
      await standby.query(`select pg_notify('levels', '')`, USER);
      await rung;
      expect(bell.count).toBe(3);
    },
    60_000,
  );
});
