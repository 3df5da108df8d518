import { expect } from 'bun:test';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { clusterTables } from '../../src/cluster/row-statements.ts';
import { postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { urlOf } from '../support/rows-table.ts';

const server = await postgresForTests();

testWithPostgres('a page of a table is read in the order of its index, without a sort of the table', async () => {
  const engine = openEngine(urlOf(server), { replica: 'r' });
  await engine.transaction((sql) => openCluster(sql));
  const plans = await engine.transaction(async (sql) => {
    // Otherwise small tables are sorted, because that takes less time.
    await sql.unsafe('set local enable_seqscan = off');
    await sql.unsafe('set local enable_bitmapscan = off');
    const explained = { unsafe: (text: string, values: unknown[]) => sql.unsafe(`explain ${text}`, values) };
    const all: [string, string][] = [];
    for (const { table, page } of clusterTables()) {
      const after = table.key.map((name) =>
        table.columns.find((each) => each.name === name)!.type === 'TEXT' ? 'a' : 1,
      );
      for (const key of [undefined, after])
        all.push([table.name, (await page(explained as unknown as Transaction, key)).flat().join('\n')]);
    }
    return all;
  });
  await engine.close();
  expect(plans.length).toBeGreaterThan(40);
  expect(plans.filter(([, plan]) => !/Index (?:Only )?Scan using \w+_pkey/.test(plan) || /Sort/.test(plan))).toEqual(
    [],
  );
});
