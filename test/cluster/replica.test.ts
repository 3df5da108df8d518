import { describe, expect } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { type Engine, openEngine } from '../../src/cluster/postgres-engine.ts';
import { openReplica, type Replica } from '../../src/cluster/replica.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { openMirror } from '../../src/store/mirror.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { NOW_MS, rowsIn, WRITES } from '../store/every-write.ts';
import { PASSWORD, postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { withFolder } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { until } from '../support/until.ts';

const server = await postgresForTests();

interface Opened extends AsyncDisposable {
  readonly replica: Replica;
  readonly engine: Engine;
  readonly refills: string[];
  readonly problems: (Error | undefined)[];
  /** How often the mirror has reported changes. */
  readonly applied: () => number;
}

/** Opens a replica in a database of the server, with its mirror at a path. */
async function open(database: string, path: string, name = 'r'): Promise<Opened> {
  const url = parseStoreUrl(`postgres://${USER}@${server.address}/${database}`, { PGPASSWORD: PASSWORD });
  const engine = openEngine(url, { replica: name });
  const refills: string[] = [];
  const problems: (Error | undefined)[] = [];
  let applied = 0;
  const mirror = openMirror(
    path,
    () => NOW_MS,
    () => {},
  );
  await engine.transaction((sql) => openCluster(sql));
  const replica = await openReplica({
    ...{ engine, mirror, name },
    onApplied: () => void applied++,
    onRefill: (reason) => refills.push(reason),
    onProblem: (error) => problems.push(error),
  });
  const close = async () => {
    await replica.close();
    await engine.close();
  };
  return { replica, engine, refills, problems, applied: () => applied, [Symbol.asyncDispose]: close };
}

let databases = 0;
async function newDatabase(): Promise<string> {
  const name = `test_${++databases}`;
  await server.query(`create database ${name} owner ${USER}`);
  return name;
}

const caughtUp = (...all: Opened[]) =>
  until(() => all.every(({ replica }) => replica.isComplete() && replica.place() === all[0]!.replica.place()));

describe('replicas', () => {
  testWithPostgres(
    'have the rows, ids and errors of one database, whichever of them decides, also those that come later',
    () =>
      withFolder(async (folder) => {
        let run = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.tuple(fc.nat(WRITES.length - 1), fc.nat(500)), { minLength: 10, maxLength: 40 }),
            async (writes) => {
              const prefix = `${run++}`;
              const path = (name: string) => join(folder, `${prefix}-${name}`);
              const database = await newDatabase();
              const plain = openStore(path('plain'), () => NOW_MS);
              {
                await using a = await open(database, path('a'), 'a');
                await using b = await open(database, path('b'), 'b');
                const opened = [a, b];
                for (const each of opened) each.replica.start();
                for (const [which, n] of writes) {
                  const work = (tx: Store) => WRITES[which]!(tx, n);
                  const outcome = (write: Promise<unknown>) =>
                    write.then(
                      () => undefined,
                      (error: Error) => error.message,
                    );
                  const expected = await outcome(plain.write(work));
                  expect(await outcome(opened[n % 2]!.replica.store.write(work))).toEqual(expected);
                }
                await caughtUp(a, b);
                await using late = await open(database, path('late'), 'late');
                late.replica.start();
                await caughtUp(a, late);
              }
              plain.close();
              const [one, ...all] = ['plain', 'a', 'b', 'late'].map((name) => rowsIn(path(name)));
              // The servers have the log of the database, and one name for it.
              const expected = { ...one!, level_log: all[0]!.level_log! };
              for (const rows of all) expect(shifted(rows)).toEqual(shifted(expected));
            },
          ),
          { numRuns: IS_LONG ? 60 : 5 },
        );
      }),
  );
});

testWithPostgres('a replica reports changes that a command on the same mirror has taken for it', () =>
  withFolder(async (folder) => {
    const database = await newDatabase();
    await using a = await open(database, join(folder, 'a'));
    await using command = await open(database, join(folder, 'a'), 'command');
    await using b = await open(database, join(folder, 'b'), 'b');
    await a.replica.catchUp();
    const before = a.applied();
    await b.replica.store.write((tx) => WRITES[0]!(tx, 1));
    await command.replica.catchUp();
    expect([a.replica.place(), a.applied()]).toEqual([b.replica.place(), before]);
    await a.replica.catchUp();
    expect(a.applied()).toBe(before + 1);
    await a.replica.catchUp();
    expect(a.applied()).toBe(before + 1);
  }),
);

/** Returns rows as they would be if ids did not begin after 10^12, as they do in the first timeline of Postgres. */
function shifted(rows: Record<string, unknown[]>): Record<string, unknown[]> {
  const isId = (value: unknown): value is number => typeof value === 'number' && value >= 1e12 && value < 1.5e12;
  const json = JSON.stringify(rows, (_, value: unknown) => (isId(value) ? value - 1e12 : value));
  const { sequences, ...tables } = JSON.parse(json) as { sequences: [string, number][] };
  return { ...tables, sequences: sequences.filter(([, last]) => last > 0) };
}
