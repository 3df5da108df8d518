import { expect } from 'bun:test';
import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { visitCluster } from '../../src/cluster/visit-cluster.ts';
import { newYorkDate } from '../../src/market/calendar.ts';
import { openAccess } from '../../src/server/stored-data.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { chainOf, recordOf } from '../store/samples.ts';
import { eventsOf } from '../support/event-stream.ts';
import { PASSWORD, postgresForTests, testWithPostgres } from '../support/postgres.ts';
import { addMember, PROGRAM, type Server, startLoaded } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';
import { fileIn, migration, newDatabase, STORE_ENV } from './migrations.ts';

const at = testFolder();
const postgres = await postgresForTests();

const [FIRST, SECOND] = ['7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90', '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a91'];
const DAY_MS = 86_400_000;
const TICKERS = ['SPX', 'NDX'];
const EVENTS = 6;

/** Fills a data folder with recorded snapshots and levels until a moment, a minute apart. */
function record(dataDir: string, untilMs: number): void {
  mkdirSync(dataDir, { mode: 0o700 });
  const store = openStore(fileIn(dataDir), Date.now);
  for (let i = EVENTS; i >= 0; i--)
    for (const underlying of TICKERS) {
      const asOf = untilMs - i * 60_000;
      const settlesAt = untilMs + 30 * DAY_MS;
      const series = chainOf().series.map((each) => ({ ...each, settlesAt, expiry: newYorkDate(settlesAt) }));
      store.saveChain(chainOf({ underlying, asOf, series, simulated: false, spot: 6000 + i }));
      const [id] = store.levelsDue();
      store.saveLevels(id!, recordOf({ underlying, asOf, spot: 6000 + i }));
    }
  store.close();
}

const serve = (dataDir: string, ...args: string[]) => {
  mkdirSync(at('drop'), { recursive: true });
  const all = ['serve', '--port', '0', '--feed', `files:${at('drop')}`, '--data-dir', dataDir, ...args];
  return startLoaded(PROGRAM, all, STORE_ENV);
};

const PATHS = [
  ...TICKERS.flatMap((ticker) => ['', '/strikes', '/hedging', '/horizons'].map((part) => `nodes/gex/${ticker}${part}`)),
  'levels?tickers=SPX,NDX',
  'levels/history?tickers=SPX,NDX',
  'screen',
];

async function answersOf({ url }: Server, key: string): Promise<unknown[]> {
  const answers = [];
  for (const path of PATHS) {
    const answer = await fetch(`${url}/api/v1/${path}`, { headers: { 'X-API-Key': key } });
    answers.push([path, answer.status, answer.headers.get('ETag'), await answer.text()]);
  }
  return answers;
}

/** The first events of a stream, after one with an id. */
async function eventsAfter({ url }: Server, key: string, id: string, count: number) {
  const headers = { 'X-API-Key': key, 'Last-Event-ID': id };
  const { body } = await fetch(`${url}/api/v1/stream/gex/${TICKERS}`, { headers });
  const stream = eventsOf(body!);
  const events = [];
  while (events.length < count) events.push((await stream.next())!);
  return events;
}

/** Returns the events with the part of their ids that names a place in the log. The marks before it depend on what a server has in memory. */
function placesOf(events: Awaited<ReturnType<typeof eventsAfter>>) {
  return events.map(({ id, ...event }) => ({ ...event, place: id!.slice(id!.indexOf('.')) }));
}

testWithPostgres(
  'a server on the migrated data answers the same, resumes streams, and its members come back to a folder',
  async () => {
    const [alone, moved, cluster, back] = [at('alone'), at('moved'), at('cluster'), at('back')];
    record(moved, Date.now() - 60_000);
    const key = await addMember(PROGRAM, moved, FIRST);
    cpSync(moved, alone, { recursive: true });
    let expected: unknown[];
    let events: Awaited<ReturnType<typeof eventsAfter>>;
    {
      await using server = await serve(alone);
      expected = await answersOf(server, key);
      events = await eventsAfter(server, key, '2', 2 * EVENTS);
    }
    expect(expected).toEqual(PATHS.map((path) => [path, 200, expect.stringMatching(/^(?:W\/)?"/), expect.any(String)]));
    const resumed = async (server: Server) => placesOf(await eventsAfter(server, key, events[3]!.id!, 2 * EVENTS - 4));

    const { url } = await newDatabase(postgres);
    expect(await migration(moved, url)).toMatchObject({ code: 0 });
    mkdirSync(cluster, { mode: 0o700 });
    copyFileSync(`${moved}/secret`, `${cluster}/secret`);
    let second: string;
    {
      await using server = await serve(cluster, '--store', url);
      expect(await answersOf(server, key)).toEqual(expected);
      expect(await resumed(server)).toEqual(placesOf(events.slice(4)));
      expect((await migration(url, back)).stderr).toMatch(/the server .* uses the database/);
      mkdirSync(at('visit'));
      const visit = await visitCluster({ dataDir: at('visit'), store: url, storePassword: PASSWORD });
      second = (await openAccess(visit.store, cluster).addMember({ uuid: SECOND! })).apiKey;
      await visit.close();
    }

    expect(await migration(url, back)).toMatchObject({ code: 0 });
    copyFileSync(`${moved}/secret`, `${back}/secret`);
    await using server = await serve(back);
    expect(await answersOf(server, second)).toEqual(expected);
    expect(await resumed(server)).toEqual(placesOf(events.slice(4)));
  },
  120_000,
);
