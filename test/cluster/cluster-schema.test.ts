import { afterAll, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { type ClusterStep, openCluster, readHead } from '../../src/cluster/cluster-schema.ts';
import type { Engine } from '../../src/cluster/postgres-engine.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { SCHEMA } from '../../src/store/folder/upgrade.ts';
import { postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { engineAt } from '../support/rows-table.ts';
import { rejectionOf } from '../support/thrown.ts';

let engine: Engine | undefined;
afterAll(() => engine?.close());
const server = await postgresForTests();
beforeAll(async () => {
  if (server) engine = engineAt(server);
}, 60_000);
beforeEach(() => engine?.transaction((sql) => sql`drop schema if exists zomma cascade`));

const open = (steps?: readonly ClusterStep[]) => engine!.transaction((sql) => openCluster(sql, steps));
const addition = (leastReader: number): ClusterStep => ({
  to: SCHEMA + 1,
  leastReader,
  sql: ['alter table zomma.members add column addition text'],
});

describe('the tables of a cluster', () => {
  testWithPostgres('are created once, also by several servers at once', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    expect(opened[0]).toMatchObject({ schema: SCHEMA, leastReader: SCHEMA, migrating: null });
    expect(opened.slice(1)).toEqual([opened[0]!, opened[0]!]);
  });

  testWithPostgres('of schema 20 get the same tables as new ones, and a name of the log', async () => {
    const columns = () =>
      engine!.transaction(
        (sql) => sql`select table_name, column_name, data_type, is_nullable, collation_name, indexdef
          from information_schema.columns left join pg_indexes on table_schema = schemaname and table_name = tablename
          where table_schema = 'zomma' order by 1, 2, 6`,
      );
    const { id } = await open();
    const fresh = await columns();
    await engine!.transaction(async (sql) => {
      await sql`drop table zomma.level_log`;
      await sql`update zomma.cluster set schema = 20, least_reader = 20`;
    });
    expect(await open()).toMatchObject({ id, schema: SCHEMA, leastReader: 20 });
    expect(await columns()).toEqual(fresh);
    expect(await engine!.transaction((sql) => sql`select name from zomma.level_log`)).toEqual([
      { name: expect.stringMatching(/^[0-9a-f]{12}$/) },
    ]);
  });

  testWithPostgres('get the steps of a newer program, which an older one tolerates if the step only adds', async () => {
    await open();
    const newer = [addition(SCHEMA)];
    expect([await open(newer), await open(newer)]).toEqual(
      Array(2).fill(expect.objectContaining({ schema: SCHEMA + 1 })),
    );
    expect(await open()).toMatchObject({ schema: SCHEMA + 1, leastReader: SCHEMA });
  });

  testWithPostgres('refuse a program that is too old for them, and one that finds none', async () => {
    const read = () =>
      rejectionOf(
        OperatorError,
        engine!.transaction((sql) => readHead(sql)),
      );
    expect((await read()).message).toBe('the database has no data of Zomma');
    await open();
    await engine!.transaction((sql) => sql`update zomma.cluster set least_reader = ${SCHEMA + 1}`);
    expect((await read()).message).toContain(`programs with a schema from ${SCHEMA + 1} on`);
  });
});
