import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { openCluster } from '../src/cluster/cluster-schema.ts';
import { type Engine, openEngine } from '../src/cluster/postgres-engine.ts';
import { openReplica } from '../src/cluster/replica.ts';
import { parseStoreUrl } from '../src/cluster/store-url.ts';
import type { Chain } from '../src/market/chain.ts';
import { openMirror } from '../src/store/mirror.ts';
import { openStore } from '../src/store/sqlite.ts';
import { PASSWORD, PostgresServer, USER } from '../test/support/postgres.ts';
import { indexChain } from './index-chain.ts';

/**
 * Measures what a database that servers share costs: a write of 59 snapshots of 820 contracts, in all and without the work that a server alone has
 * too, and the time in which a new server has 6,000 snapshots. Usage: bun bench/shared-database.ts
 */
const ROUNDS = 30;
const TICKERS = 59;
const SNAPSHOTS = 6_000;

const folder = mkdtempSync(join(tmpdir(), 'zomma-shared-'));
await using server = await PostgresServer.start({ fsync: true });
const url = parseStoreUrl(`postgres://${USER}@${server.address}/${USER}`, { PGPASSWORD: PASSWORD });
const chain: Chain = { ...indexChain(10, 41), simulated: false, source: 'made up' };
const chainsAt = (round: number, count: number): Chain[] =>
  Array.from({ length: count }, (_, i) => ({ ...chain, underlying: `T${i}`, asOf: chain.asOf + round * 15_000 }));

async function open(name: string): Promise<{ engine: Engine; replica: Awaited<ReturnType<typeof openReplica>> }> {
  const engine = openEngine(url, { replica: name });
  const ignored = () => {};
  const mirror = openMirror(join(folder, name), Date.now, ignored);
  const events = { onApplied: ignored, onRefill: ignored, onProblem: ignored };
  await engine.transaction((sql) => openCluster(sql));
  return { engine, replica: await openReplica({ engine, mirror, name, ...events }) };
}

const { engine, replica } = await open('a');
const alone = openStore(join(folder, 'alone'), Date.now);
const times = { shared: [] as number[], alone: [] as number[] };
for (let round = 0; round < ROUNDS; round++) {
  const chains = chainsAt(round, TICKERS);
  let startedMs = performance.now();
  await replica.store.write((tx) => {
    for (const each of chains) tx.saveChain(each);
  });
  times.shared.push(performance.now() - startedMs);
  startedMs = performance.now();
  await alone.write((tx) => {
    for (const each of chains) tx.saveChain(each);
  });
  times.alone.push(performance.now() - startedMs);
}
const shown = (ms: readonly number[]) => `${quantile(ms, 0.5).toFixed(1)} ms, p90 ${quantile(ms, 0.9).toFixed(1)}`;
console.log(`${TICKERS} snapshots of ${chain.count} contracts: ${shown(times.shared)}; alone ${shown(times.alone)}`);
console.log(`the database adds ${(quantile(times.shared, 0.5) - quantile(times.alone, 0.5)).toFixed(1)} ms`);

for (let i = 0; i < SNAPSHOTS; i += 100) {
  const chains = chainsAt(0, SNAPSHOTS).slice(i, i + 100);
  await replica.store.write((tx) => {
    for (const each of chains) tx.saveChain({ ...each, underlying: `N${each.underlying}` });
  });
}
const startedMs = performance.now();
const late = await open('late');
await late.replica.catchUp();
console.log(
  `a new server has ${late.replica.store.snapshotCount()} snapshots after ${((performance.now() - startedMs) / 1_000).toFixed(2)} s`,
);
for (const each of [{ engine, replica }, late]) {
  await each.replica.close();
  await each.engine.close();
}
alone.close();
rmSync(folder, { recursive: true });
