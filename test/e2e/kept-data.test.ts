import { Database } from 'bun:sqlite';
import { beforeEach, expect, test } from 'bun:test';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { newYorkDate } from '../../src/market/calendar.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { chainOf, keepLevels } from '../store/samples.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { addMember, PROGRAM, run, startServer } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';

const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const DAY_MS = 86_400_000;

const at = testFolder();
let dataDir: string;
let database: string;
beforeEach(() => {
  dataDir = makeDataFolder(at('data'));
  database = join(dataDir, 'zomma.sqlite');
});

const zomma = (...args: string[]) => run(PROGRAM, [...args, '--data-dir', dataDir]);
const serve = (...args: string[]) => {
  const drop = at('drop');
  mkdirSync(drop, { recursive: true });
  return startServer(PROGRAM, ['serve', '--port', '0', '--feed', `files:${drop}`, '--data-dir', dataDir, ...args]);
};
/** Stores snapshots of some days before a moment. */
const store = (days: readonly number[], fromMs: number) => {
  const opened = openStore(database, Date.now);
  for (const day of days) keepLevels(opened, { asOf: fromMs - day * DAY_MS });
  opened.close();
};
const listed = async () =>
  (await zomma('chains', 'list')).stdout.split('\n').filter((line) => line.startsWith('SPX')).length;

test('a server with a damaged newest snapshot starts, tells it in log and feeds, and serves the one before', async () => {
  const now = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  const opened = openStore(database, Date.now);
  const settlesAt = now + 30 * DAY_MS;
  const series = chainOf().series.map((each) => ({ ...each, settlesAt, expiry: newYorkDate(settlesAt) }));
  for (const asOf of [now - DAY_MS, now]) opened.saveChain(chainOf({ asOf, series, simulated: false }));
  opened.close();
  const db = new Database(database, { readwrite: true, strict: true });
  const { columns } = db.query('SELECT columns FROM snapshots WHERE as_of = ?').get(now) as { columns: Uint8Array };
  columns[600] = columns[600]! ^ 0xff;
  columns[columns.length - 1]! ^= 0xff;
  db.run('UPDATE snapshots SET columns = ? WHERE as_of = ?', [columns, now]);
  db.close(true);
  const api_key = await addMember(PROGRAM, dataDir, UUID);
  const server = await serve('--ops', '127.0.0.1:0');
  await server.loaded;
  const headers = { 'X-API-Key': api_key };
  const answer = await fetch(`${server.url}/api/v1/nodes/gex/SPX/strikes`, { headers });
  expect([answer.status, answer.headers.get('X-Data-As-Of')]).toEqual([200, new Date(now - DAY_MS).toISOString()]);
  const feeds = (await (await fetch(`${server.url}/api/v1/feeds`, { headers })).json()) as {
    feeds: { state: string; refusals: { reason: string; ticker: string }[] }[];
  };
  expect(feeds.feeds[0]!.refusals).toMatchObject([{ ticker: 'SPX', reason: expect.stringContaining('damaged') }]);
  const { code, stderr } = await server.stop('SIGTERM');
  expect([code, stderr.match(/"message":"snapshot_damaged"/g)?.length]).toEqual([0, 1]);
  expect(await listed()).toBe(1);
});

test('a clock that is ahead at the start removes no recorded data, also with a file whose data it dates', async () => {
  // The data is years old, as it is to a clock that is years ahead.
  store([0, 1, 40, 80], Date.now() - 1_700 * DAY_MS);
  const server = await serve('--keep-chains', '30', '--keep-prints', '31', '--keep-levels', '31');
  await server.loaded;
  const until = Date.now() + 10_000;
  while (!server.log().includes('retention_waits') && Date.now() < until) await Bun.sleep(20);
  const { code, stderr } = await server.stop('SIGTERM');
  expect([code, await listed()]).toEqual([0, 4]);
  expect(stderr).toContain('"of":"chains"');
});

test('`zomma compact` removes what is past its retention and makes the file smaller, but not while a server runs', async () => {
  // At 17:00 UTC, each snapshot has a New York day of its own, also across a change of the clocks.
  const newest = Date.parse(`${new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)}T17:00:00Z`);
  store(
    Array.from({ length: 120 }, (_, day) => day),
    newest,
  );
  const before = statSync(database).size;
  const server = await serve();
  expect(await zomma('compact')).toMatchObject({ code: 1, stderr: expect.stringContaining(`process ${server.pid}`) });
  await server.stop('SIGTERM');
  const { code, stdout } = await zomma('compact', '--keep-chains', '9', '--keep-levels', '50', '--json');
  expect(code).toBe(0);
  const { removed, bytes_before, bytes_after } = JSON.parse(stdout);
  expect(removed).toEqual({ prints: 0, chains: 110, levels: 69 });
  expect(bytes_after).toBeLessThan(Math.min(bytes_before, before));
  expect(statSync(database)).toMatchObject({ size: bytes_after, mode: 0o100600 });
  const db = new Database(database, { readonly: true });
  expect(db.query('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
  expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  db.close(true);
  expect(await listed()).toBe(10);
  expect((await zomma('chains', 'list')).stdout).toContain(newYorkDate(newest).slice(0, 7));
});
