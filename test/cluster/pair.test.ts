import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { dropQuotes, listMarket } from '../../bench/market-files.ts';
import { type PeerProcess, startPeer } from '../../bench/peer-process.ts';
import { eventIdOf } from '../support/event-ids.ts';
import { testWithProgram } from '../support/needs.ts';
import { PAIR_MEMBER, PROXIES, type Side, startPair, startProxy, TRUSTED } from '../support/pair.ts';
import { PROGRAM, run } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { testFolder } from '../support/test-folder.ts';

/** An hour of market time, run fast, on a pair of servers behind HAProxy. Some rounds are loaded at once, in the order of their moments. */
const { streams, tickers, each, rounds, atOnce } = IS_LONG
  ? { streams: 1_000, tickers: 59, each: 12, rounds: 240, atOnce: 6 }
  : { streams: 60, tickers: 6, each: 4, rounds: 24, atOnce: 4 };
const ROUND_MS = 3_600_000 / rounds;
/** Streams of a member, which are fewer than the limit of 500. */
const STREAMS_A_KEY = 400;
/** The first round that one server misses at first, and the first after which the other server is killed. */
const [MISSED, KILLED] = [1, 2].map((quarter) => atOnce * Math.floor((quarter * rounds) / 4 / atOnce)) as [
  number,
  number,
];
/** The last round. */
const LAST = KILLED + atOnce * Math.ceil((rounds - KILLED - 1) / atOnce);
/** The rounds that may come again: those of two minutes, one more, and the rounds of one page, which all have the marks before the page. */
const REPEATED = Math.ceil(120_000 / ROUND_MS) + 1 + atOnce;

const at = testFolder();

/** Paths whose answers are about one server. */
const OWN_PATHS = /^\/(?!api\/v1\/)|\/(?:account|feeds|stream|my-key|sign-in|usage)\b/;

testWithProgram('haproxy')(
  `${streams} streams of a server that is killed continue on the other one; both have the same answers and members`,
  async () => {
    const market = listMarket(tickers, Date.now(), 2, () => 6);
    const names = market.map(({ ticker }) => ticker);
    const start = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000 - 300_000;
    const momentOf = (round: number) => start + round * ROUND_MS;
    mkdirSync(at('none'));
    const pair = await startPair(at, () => `files:${at('none')}`, '--rate-limit', 'off');
    const { servers } = pair;
    await using _a = servers.a;
    await using _b = servers.b;
    await using front = await startProxy(PROXIES.haproxy, at, servers);
    using a = openLevels(at('a'));
    using b = openLevels(at('b'));
    const levels = { a, b };

    const makeFiles = (from: number, count = atOnce) => {
      mkdirSync(at(`rounds-${from}`));
      for (let round = from; round < from + count; round++)
        for (const listed of market) {
          dropQuotes(at('none'), at(''), listed, round, momentOf(round));
          const name = `${String(round).padStart(3, '0')}-${listed.ticker}.csv`;
          renameSync(at(`${listed.ticker}.csv`), at(`rounds-${from}`, name));
        }
    };
    const load = async (from: number, side: Side) =>
      expect(await run(PROGRAM, ['ingest', at(`rounds-${from}`), '--data-dir', at(side)])).toMatchObject({ code: 0 });
    const settled = async (from: number, side: Side, count = atOnce) => {
      for (let round = from; round < from + count; round++) await levels[side].settled(momentOf(round), tickers);
    };
    /** Runs some rounds, until these servers have stored the levels. */
    const play = async (from: number, ...sides: readonly Side[]) => {
      makeFiles(from);
      await Promise.all(sides.map((side) => load(from, side)));
      for (const side of sides) await settled(from, side);
    };
    await play(0, 'a', 'b');

    using clients = startClients(front.url, names, each);
    const sideOf = (id: string): Side => (eventIdOf(id).log === a.name ? 'a' : 'b');
    const first = await clients.ask<{ id: string }>({ open: Math.min(streams, STREAMS_A_KEY), key: pair.key });
    const lost = sideOf(first.id);
    const left: Side = lost === 'a' ? 'b' : 'a';
    /** Adds members until the proxy sends the key of one to a server. */
    const keyTo = async (side: Side): Promise<string> => {
      for (;;) {
        const key = await pair.addKey();
        await pair.sync();
        using probe = startClients(front.url, names, 1);
        if (sideOf((await probe.ask<{ id: string }>({ open: 1, key })).id) === side) return key;
      }
    };
    for (let open = STREAMS_A_KEY; open < streams; open += STREAMS_A_KEY)
      await clients.ask({ open: Math.min(streams - open, STREAMS_A_KEY), key: await keyTo(lost) });

    for (let round = atOnce; round < KILLED; round += atOnce) {
      await (round === MISSED ? play(round, lost) : play(round, 'a', 'b'));
      if (round !== MISSED + atOnce) continue;
      // The files of the round before arrive late.
      await load(MISSED, left);
      await settled(MISSED, left);
    }
    expect(await differences(servers.a.url, servers.b.url, pair.key, names[0]!)).toEqual([]);

    // The server ends before it has sent the levels of a round that is stored.
    makeFiles(KILLED, 1);
    await Promise.all([load(KILLED, 'a'), load(KILLED, 'b')]);
    process.kill(servers[lost].pid, 'SIGKILL');
    const { backMs } = await clients.ask<{ backMs: number }>({ brokenAt: Date.now() });
    await servers[lost].ended;
    await settled(KILLED, left, 1);
    for (let round = KILLED + 1; round < rounds; round += atOnce) await play(round, left);
    // The streams began with the last of the first rounds.
    const moments = Array.from({ length: LAST - atOnce + 2 }, (_, i) => momentOf(atOnce - 1 + i));
    const { counts } = await clients.ask<{ counts: Record<string, number> }>({ moments });
    console.log(`back after ${backMs} ms at most; levels by how often they came: ${JSON.stringify(counts)}`);
    expect(backMs).toBeLessThan(5_000);
    const { 1: once = 0, 2: twice = 0, ...more } = counts;
    expect([once + twice, more]).toEqual([streams * each * moments.length, {}]);
    expect(twice).toBeLessThanOrEqual(streams * each * REPEATED);

    // The server that was away gets the files that came meanwhile.
    await using again = await pair.start(lost);
    for (let round = KILLED + 1; round < rounds; round += atOnce) await load(round, lost);
    for (let round = KILLED + 1; round < rounds; round += atOnce) await settled(round, lost);
    await settled(KILLED, lost, 1);
    expect(await differences(again.url, servers[left].url, pair.key, names[1]!)).toEqual([]);

    const revoke = ['members', 'revoke', '--uuid', PAIR_MEMBER, '--data-dir', at('a')];
    expect(await run(PROGRAM, revoke)).toMatchObject({ code: 0 });
    await pair.sync();
    for (const { url } of [again, servers[left]]) {
      const refused = await fetch(`${url}/api/v1/universe`, { headers: { 'X-API-Key': pair.key } });
      expect(refused.status).toBe(403);
    }
    await clients.ask({ closed: Math.min(streams, STREAMS_A_KEY) });
  },
  IS_LONG ? 900_000 : 60_000,
);

/** The log of the levels of a server. */
function openLevels(dataDir: string) {
  const db = new Database(join(dataDir, 'zomma.sqlite'), { readonly: true });
  const stored = db.prepare<{ count: number }, [number]>('SELECT count(*) AS count FROM levels WHERE as_of = ?');
  return {
    name: db.query<{ name: string }, []>('SELECT name FROM level_log').get()!.name,
    async settled(asOf: number, count: number) {
      while (stored.get(asOf)!.count < count) await Bun.sleep(5);
    },
    [Symbol.dispose]: () => db.close(),
  };
}

/** Starts clients in a process of their own. Without the variable, Bun opens 256 connections at most. */
function startClients(url: string, names: readonly string[], each: number): PeerProcess {
  const program = [process.execPath, join(import.meta.dir, 'stream-clients.ts'), url, names.join(), String(each)];
  return startPeer(['env', 'BUN_CONFIG_MAX_HTTP_REQUESTS=2000', ...program]);
}

/** Returns the paths of the market data of a ticker whose answers of two servers differ in a byte or in the tag. */
async function differences(first: string, second: string, key: string, ticker: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${first}/openapi.json`)).json()) as { paths: Record<string, object> };
  const asked = Object.keys(paths).filter((path) => 'get' in paths[path]! && !OWN_PATHS.test(path));
  const different: string[] = [];
  let answered = 0;
  for (const path of asked.map((each) => each.replace('{ticker}', ticker))) {
    const [one, other] = await Promise.all(
      [first, second].map(async (url) => {
        const response = await fetch(url + path, { ...TRUSTED, headers: { 'X-API-Key': key } });
        return { status: response.status, tag: response.headers.get('etag'), body: await response.text() };
      }),
    );
    if (one!.status !== 200 && one!.status === other!.status) continue;
    answered++;
    if (JSON.stringify(one) !== JSON.stringify(other)) different.push(path);
  }
  expect(answered).toBeGreaterThan(15);
  return different;
}
