import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCluster } from '../../src/cluster/cluster-schema.ts';
import { acceptFile } from '../../src/cluster/cluster-secret.ts';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { NOW_MS, rowsIn, WRITES } from '../store/every-write.ts';
import { chainOf, MONDAY_MS } from '../store/samples.ts';
import { PASSWORD, type PostgresServer, USER } from '../support/postgres.ts';
import { PROGRAM, run } from '../support/process.ts';

/** The secret of the data folders. */
export const SECRET = new Uint8Array(32).fill(7);
export const STORE_ENV = { ZOMMA_STORE_PASSWORD: PASSWORD };

let databases = 0;
/** Creates an empty database. Returns its name and its URL. */
export async function newDatabase(
  server: PostgresServer,
): Promise<{ readonly database: string; readonly url: string }> {
  const database = `migrate_${++databases}`;
  await server.query(`create database ${database} owner ${USER}`);
  return { database, url: `postgres://${USER}@${server.address}/${database}` };
}

/** Creates the tables of a cluster, as a first server does, which has a secret. */
export async function openTables(url: string, secret?: Uint8Array): Promise<void> {
  const engine = openEngine(parseStoreUrl(url, { PGPASSWORD: PASSWORD }), { replica: 'r' });
  await engine.transaction(async (sql) => {
    await openCluster(sql);
    if (secret) await acceptFile(sql, 'secret', secret);
  });
  await engine.close();
}

export const migration = (from: string, to: string, ...more: string[]) =>
  run(PROGRAM, ['migrate', '--from', from, '--to', to, ...more], undefined, STORE_ENV);

export const fileIn = (dataDir: string): string => join(dataDir, 'zomma.sqlite');

/** Makes a data folder that has rows in each table: of every write, large ones, and values that are hard to carry. */
export function fillFolder(dataDir: string): string {
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, 'secret'), SECRET, { mode: 0o600 });
  const store = openStore(fileIn(dataDir), () => NOW_MS);
  const write = (which: number, n: number) => {
    try {
      store.transaction(() => WRITES[which]!(store, n));
    } catch {
      // Some writes need what an earlier one has removed.
    }
  };
  for (let n = 0; n < 60; n++) for (const which of WRITES.keys()) write(which, n);
  for (let n = 0; n < 9; n++) for (const which of [0, 4, 5]) write(which, 2 * n + 1);
  for (let i = 0; i < 40; i++)
    store.saveChain(chainOf({ underlying: 'NDX', asOf: MONDAY_MS + i * 60_000, count: 4_000 }));
  for (const text of ['', ' ', '{a,NULL}', '"\\\\"', "'", 'Zürich 日本 🜚', '\t\n'])
    store.setCheckpoint('files', text, text);
  store.close();
  const db = new Database(fileIn(dataDir), { strict: true });
  db.run(`INSERT INTO closes VALUES (0, 'A', '2026-01-01', 5e-324, 1.7976931348623157e308), (0, 'A', '2026-01-02', 0.1, 9e999),
    (0, 'A', '2026-01-03', -9e999, -0.0), (0, 'A', '2026-01-04', 9007199254740993.0, NULL), (0, 'A', '2026-01-05', 1e22, 1.5)`);
  db.run(`INSERT INTO feed_refusals VALUES ('files', 'a.csv', 'row 1', NULL, 1767643200000, 1)`);
  db.run('INSERT INTO horizons_due SELECT id FROM snapshots LIMIT 1');
  db.run('INSERT INTO tape_retired SELECT id, 0, 32 FROM tape_parts LIMIT 1');
  db.run('INSERT INTO damaged_snapshots SELECT * FROM snapshots LIMIT 2');
  db.close(true);
  const empty = Object.entries(rowsIn(fileIn(dataDir))).filter(([, rows]) => rows.length === 0);
  expect(empty).toEqual([]);
  return dataDir;
}

/** A process that migrates, and is killed at its so many-th report of progress, or when it begins to compare. */
export async function killedMigration(from: string, to: string, when: number | 'comparing'): Promise<string[]> {
  const program = `
    import { migrateData } from ${JSON.stringify(new URL('../../src/server/migrate-data.ts', import.meta.url).href)};
    const [from, to, when, storePassword] = process.argv.slice(1);
    const kill = () => process.kill(process.pid, 'SIGKILL');
    let reports = 0;
    await migrateData({ from, to, storePassword }, {
      onStep(step, left) { console.log(step, left ?? 'new'); if (step === when) kill(); },
      onProgress() { if (++reports === Number(when)) kill(); },
    });`;
  const child = Bun.spawn([process.execPath, '-e', program, from, to, `${when}`, PASSWORD], { stdout: 'pipe' });
  const output = await new Response(child.stdout).text();
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  return output.trim().split('\n');
}
