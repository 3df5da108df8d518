import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { CrossingKind } from '../../../src/operations/gex/level-crossings.ts';
import { MONDAY_MS } from '../../store/samples.ts';
import { LevelServer, type ReadEvent } from '../../support/level-servers.ts';
import { withFolder } from '../../support/process.ts';

/** Streams that resume on a server with another log: stores with the levels of the same snapshots, and a client that moves between them. */

const TICKERS = ['SPX', 'QQQ'];
const open = new Set<LevelServer>();
const startServer = (...given: ConstructorParameters<typeof LevelServer>) => {
  const server = new LevelServer(...given);
  open.add(server);
  return server;
};
afterEach(() => {
  for (const { store } of open) store.close();
  open.clear();
});

/**
 * Runs steps. Returns what the client reads, one text for each connection: the seconds of each ticker in the order of arrival. Steps:
 * - `A SPX 15`: server A stores the levels of SPX of the second 15, one second later unless the clock is further. `AB SPX 0-60`: both store the
 *   levels of each 15 seconds. `A SPX 600!`: the clock stays. A connected client reads each event at once.
 * - `client A`: the client connects to A with its last id. `client A 2` reads two events, and loses the connection.
 * - `cut`: the client loses the connection. `restart A` cuts it too. `wait 60`: a minute passes.
 */
function run(steps: string, { tickers = TICKERS, aheadMs = 0 } = {}): string[] {
  const clock = { nowMs: MONDAY_MS };
  const servers = { A: startServer(clock), B: startServer(clock, { aheadMs }) };
  const read: ReadEvent[][] = [];
  let last: string | undefined;
  let connected: { readonly to: string; readonly events: () => Iterable<ReadEvent> } | undefined;
  const take = (most = Number.POSITIVE_INFINITY) => {
    for (const event of connected!.events()) {
      last = event.id;
      if (read.at(-1)!.push(event) < most) continue;
      connected = undefined;
      return;
    }
  };
  for (const step of steps.split(',').map((each) => each.trim())) {
    const [what, name = '', value] = step.split(' ') as [string, string?, string?];
    if (/^A?B?$/.test(what)) {
      const [, from, , to = from, isWrong] = /^(\d+)(-(\d+))?(!?)$/.exec(value!)!;
      for (let at = Number(from); at <= Number(to); at += 15) {
        if (!isWrong) clock.nowMs = Math.max(clock.nowMs, MONDAY_MS + 1_000 * (at + 1));
        for (const each of what as 'A' | 'B') {
          servers[each as 'A'].keep(name, MONDAY_MS + 1_000 * at);
          if (connected?.to === each) take();
        }
      }
    } else if (what === 'client') {
      read.push([]);
      connected = { to: name, events: servers[name as 'A'].connect(last, tickers) };
      take(value === undefined ? undefined : Number(value));
    } else if (what === 'wait') clock.nowMs += 1_000 * Number(name);
    else {
      connected = undefined;
      if (what === 'restart') servers[name as 'A'].restart();
    }
  }
  return read.map(textOf);
}

/** Returns the seconds of the events of each ticker, with a run of 15 seconds each as its first and last. */
function textOf(events: readonly ReadEvent[]): string {
  const byTicker = Map.groupBy(events, ({ ticker }) => ticker);
  return [...byTicker]
    .map(([ticker, ofTicker]) => {
      const runs: [number, number][] = [];
      for (const { asOf } of ofTicker) {
        const at = (asOf - MONDAY_MS) / 1_000;
        if (runs.at(-1)?.[1] === at - 15) runs.at(-1)![1] = at;
        else runs.push([at, at]);
      }
      return `${ticker} ${runs.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(' ')}`;
    })
    .join(', ');
}

describe('a client gets each level at least once', () => {
  test.each<[name: string, steps: string, expected: string[]]>([
    [
      'that both servers have in order, and each once from one server',
      'AB SPX 0-180, client A, A SPX 195, cut, client B, B SPX 195-210, cut, client B, B SPX 225, cut, client B',
      ['SPX 180-195', 'SPX 135-210', 'SPX 225', ''],
    ],
    [
      'if the second server is behind',
      'AB SPX 0-180, client A, A SPX 195-225, client B, B SPX 195-240',
      ['SPX 180-225', 'SPX 135-240'],
    ],
    ['if the second server is ahead', 'AB SPX 0-180, client A, B SPX 195-225, client B', ['SPX 180', 'SPX 135-225']],
    [
      'if the first server stalls on a ticker for ten minutes while others flow',
      'AB SPX 0-180, AB QQQ 0-180, client A, AB QQQ 195-780, B SPX 195-780, client B',
      ['SPX 180, QQQ 180-780', 'SPX 135-780, QQQ 675-780'],
    ],
    [
      'if the first server fails right after such a stall',
      'AB SPX 0-180, AB QQQ 0-180, client A, AB QQQ 195-780, B SPX 195-780, AB SPX 795, client B',
      ['SPX 180 795, QQQ 180-780', 'SPX 135-795, QQQ 735-780'],
    ],
    [
      'if the first server missed a round',
      'AB SPX 0-180, client A, B SPX 195, AB SPX 210-225, client B',
      ['SPX 180 210-225', 'SPX 135-225'],
    ],
    [
      'if the first server missed a round of five minutes',
      'AB SPX 0, AB SPX 300, client A, B SPX 600, AB SPX 900, client B',
      ['SPX 300 900', 'SPX 300 600 900'],
    ],
    [
      'if the second server has a round late, before the client comes',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, B SPX 195, client B',
      ['SPX 180', 'SPX 135-210'],
    ],
    [
      'if the second server gets a round late, while the client is there',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, client B, B SPX 195, B SPX 225',
      ['SPX 180', 'SPX 135-180 210 195 225'],
    ],
    [
      'if it gets the round while the client is away again',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, client B, cut, B SPX 195, client B, cut, client B',
      ['SPX 180', 'SPX 135-180 210', 'SPX 195', ''],
    ],
    [
      'if it gets the round then, and the client comes back an hour later',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, client B, cut, B SPX 195, wait 3600, client B, B SPX 198',
      ['SPX 180', 'SPX 135-180 210', 'SPX 195'],
    ],
    [
      'if it restarts meanwhile',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, client B, restart B, B SPX 195, client B',
      ['SPX 180', 'SPX 135-180 210', 'SPX 195'],
    ],
    [
      'but not what is late by more than five minutes, which no stream gets',
      'AB SPX 0-180, client A, cut, A SPX 195-210, B SPX 210, client B, wait 361, B SPX 195, B SPX 225, client B',
      ['SPX 180', 'SPX 135-180 210-225', ''],
    ],
    [
      'if the first server had it late, so that no client of it got it',
      'AB SPX 0-180, client B, B SPX 210, B SPX 195, client B, A SPX 195-210, client A',
      ['SPX 180 210', '', 'SPX 135-210'],
    ],
    [
      'if the connection breaks while levels are repeated',
      'AB SPX 0-180, client A, cut, AB SPX 195-300, client B 2, client B 3, client A, client B',
      ['SPX 180', 'SPX 135-150', 'SPX 135-165', 'SPX 195-300', 'SPX 135-300'],
    ],
    [
      'if a level of the first server has a moment in the future',
      'AB SPX 0, client A, A SPX 600!, B SPX 15-30, B SPX 9000000!, client B',
      ['SPX 0 600', 'SPX 0-30'],
    ],
    [
      'if several levels of the first server have moments in the future',
      'AB SPX 0-180, client A, A SPX 700!, A SPX 800!, B SPX 195-240, client B',
      ['SPX 180 700 800', 'SPX 135-240'],
    ],
    [
      'that is the first of its ticker',
      'AB SPX 0-180, client A, AB QQQ 180, cut, AB QQQ 195, client B',
      ['SPX 180, QQQ 180', 'SPX 135-180, QQQ 180-195'],
    ],
    [
      'if only the second server has the ticker',
      'AB SPX 0-180, client A, AB SPX 195, B QQQ 195, client B',
      ['SPX 180-195', 'SPX 135-195, QQQ 195'],
    ],
  ])('%s', (_, steps, expected) => {
    expect(run(steps)).toEqual(expected);
  });

  test.each([-2_000, 2_000])('if the clock of the second server is %p ms ahead', (aheadMs) => {
    const steps = 'AB SPX 0-180, client B, A SPX 195, B SPX 195, cut, AB SPX 210, client A, cut, AB SPX 225, client B';
    const seen = run(steps, { aheadMs });
    expect(seen.map((each) => /^SPX (?:180|120|135)-(?:195|210|225)$/.test(each))).toEqual([true, true, true]);
  });
});

const SPX = ['SPX'];
const readAll = (events: Iterable<ReadEvent>) => [...events];
const secondsOf = (events: readonly ReadEvent[]) => events.map(({ asOf }) => (asOf - MONDAY_MS) / 1_000);

test('a client that wants other tickers gets them from the shared mark on', () => {
  const clock = { nowMs: MONDAY_MS };
  const [a, b] = [startServer(clock), startServer(clock)];
  for (let at = 0; at <= 300; at += 15)
    for (const ticker of ['SPX', 'QQQ', 'NDX']) {
      clock.nowMs = MONDAY_MS + 1_000 * (at + 1);
      for (const each of [a, b]) each.keep(ticker, MONDAY_MS + 1_000 * at);
    }
  const { id } = readAll(a.connect(undefined, ['SPX', 'QQQ'])()).at(-1)!;
  const moved = readAll(b.connect(id, ['SPX', 'NDX'])());
  expect([...new Set(moved.map(({ ticker }) => ticker))]).toEqual(['SPX', 'NDX']);
  const ofNdx = secondsOf(moved.filter(({ ticker }) => ticker === 'NDX'));
  expect([ofNdx[0]! <= 255, ofNdx.at(-1)]).toEqual([true, 300]);
});

describe('a server knows its own log', () => {
  const started = () => {
    const clock = { nowMs: MONDAY_MS };
    const server = startServer(clock);
    const keep = (from: number, to: number) => {
      for (let at = from; at <= to; at += 15) {
        clock.nowMs = MONDAY_MS + 1_000 * (at + 1);
        server.keep('SPX', MONDAY_MS + 1_000 * at);
      }
    };
    keep(0, 300);
    const { id } = readAll(server.connect(undefined, SPX)()).at(-1)!;
    return { clock, server, keep, id };
  };
  const after = (server: LevelServer, id: string) => secondsOf(readAll(server.connect(id, SPX)()));

  test('after the entry of the id was replaced', () => {
    const { server, keep, id } = started();
    keep(300, 315);
    expect(after(server, id)).toEqual([300, 315]);
  });

  test('after retention has removed the entry of the id, and all before', () => {
    const { clock, server, keep, id } = started();
    keep(315, 345);
    const levelsFromMs = MONDAY_MS + 320_000;
    server.store.removeOld({ levelsFromMs, presentMs: clock.nowMs });
    server.restart();
    expect(after(server, id)).toEqual([330, 345]);
  });

  test('and not that of a copy of its database, which continues in another way', () =>
    withFolder((folder) => {
      const clock = { nowMs: MONDAY_MS };
      const first = startServer(clock, { path: join(folder, 'a.sqlite') });
      const keep = (server: LevelServer, ...moments: number[]) => {
        for (const at of moments) {
          clock.nowMs = MONDAY_MS + 1_000 * (at + 1);
          server.keep('SPX', MONDAY_MS + 1_000 * at);
        }
      };
      keep(first, 0, 60, 120, 135);
      const db = new Database(join(folder, 'a.sqlite'));
      db.run('VACUUM INTO ?', [join(folder, 'b.sqlite')]);
      db.close();
      const copy = startServer(clock, { path: join(folder, 'b.sqlite') });
      expect(copy.store.levelLogName()).toBe(first.store.levelLogName());
      keep(first, 150, 165, 180);
      const { id } = readAll(first.connect(undefined, SPX)()).at(-1)!;
      // The copy has not reached the number of the id, and later has it for other levels.
      expect(after(copy, id)).toEqual([135]);
      // The copy stores them at the same time as the first one.
      for (const at of [160, 170, 175]) copy.keep('SPX', MONDAY_MS + 1_000 * at);
      expect(after(copy, id)).toEqual([135, 160, 170, 175]);
      // Exactly once on the log of the id.
      expect(after(first, id)).toEqual([]);
    }));
});

test.each([0, 48])('a client that sends any marks, %p hours ahead, gets what is of the last day', (aheadH) => {
  const HOUR_MS = 3_600_000;
  const clock = { nowMs: MONDAY_MS };
  const server = startServer(clock);
  for (let hour = 0; hour < 72; hour++) {
    clock.nowMs = MONDAY_MS + HOUR_MS * hour;
    server.keep('SPX', clock.nowMs);
  }
  const events = readAll(server.connect(`0.other.1.${(clock.nowMs + aheadH * HOUR_MS).toString(36)}.abc`, SPX)());
  expect(events.map(({ asOf }) => (asOf - MONDAY_MS) / HOUR_MS)).toEqual(Array.from({ length: 24 }, (_, i) => 48 + i));
});

describe('a client that was away for more than a day', () => {
  const HOUR = 3_600;
  test.each([
    ['starts anew if it missed levels that are older', `AB SPX 195-300, wait ${25 * HOUR}`, 'SPX 300'],
    [
      'gets all levels above its marks if they are of the minute after its last',
      `AB SPX 195-225, wait ${25 * HOUR}`,
      'SPX 135-225',
    ],
    ['gets the last minute again if it missed nothing', `wait ${25 * HOUR}`, 'SPX 135-180'],
    [
      'gets what it missed if that is newer',
      `wait ${25 * HOUR}, AB SPX ${26 * HOUR}-${26 * HOUR + 30}`,
      `SPX 135-180 ${26 * HOUR}-${26 * HOUR + 30}`,
    ],
  ])('%s', (_, steps, expected) => {
    expect(run(`AB SPX 0-180, client A, cut, ${steps}, client B`)[1]).toBe(expected);
  });
});

test('a long replay advances, however often the connection breaks, and has what is stored late meanwhile', () => {
  const clock = { nowMs: MONDAY_MS };
  const [a, b] = [startServer(clock), startServer(clock)];
  const rounds = 800;
  for (let round = 0; round < rounds; round++) {
    clock.nowMs = MONDAY_MS + 15_000 * round + 1_000;
    for (const ticker of TICKERS) {
      if (round < 20) a.keep(ticker, MONDAY_MS + 15_000 * round);
      b.keep(ticker, MONDAY_MS + 15_000 * round);
    }
  }
  let last = readAll(a.connect(undefined, TICKERS)()).at(-1)!.id;
  const seen = new Map<number, number>();
  let count = 0;
  /** Moments of late records: half a minute before the last event of a full page. */
  const late: number[] = [];
  for (let isDone = false; !isDone; ) {
    isDone = true;
    let inConnection = 0;
    let endOfPage = 0;
    for (const { id, asOf } of b.connect(last, TICKERS)()) {
      last = id;
      count++;
      seen.set(asOf, (seen.get(asOf) ?? 0) + 1);
      inConnection++;
      if (inConnection === 256) endOfPage = asOf;
      // In the middle of the second page.
      if (inConnection < 400) continue;
      late.push(endOfPage - 29_999);
      b.keep('SPX', late.at(-1)!);
      isDone = false;
      break;
    }
  }
  expect(late.length).toBeGreaterThan(2);
  for (let round = 20; round < rounds; round++) expect(seen.get(MONDAY_MS + 15_000 * round)).toBeGreaterThanOrEqual(2);
  expect(late.filter((asOf) => !seen.has(asOf))).toEqual([]);
  // A break repeats a page and the overlap at most.
  expect(count).toBeLessThan(2 * rounds + late.length * 300);
});

test('crossings continue on the other server', () => {
  const clock = { nowMs: MONDAY_MS };
  const [a, b] = [startServer(clock), startServer(clock)];
  const on = new Set<CrossingKind>(['flip_cross']);
  const keep = (servers: readonly LevelServer[], at: number, spot: number) => {
    clock.nowMs = Math.max(clock.nowMs, MONDAY_MS + 1_000 * (at + 1));
    for (const each of servers) each.keep('SPX', MONDAY_MS + 1_000 * at, { spot, gexFlip: 100 });
  };
  for (let at = 0; at <= 180; at += 15) keep([b, a], at, 90);
  const stream = a.connect(undefined, SPX, on);
  const [start] = readAll(stream());
  keep([a, b], 195, 110);
  const [crossed] = readAll(stream());
  expect([start!.name, secondsOf([crossed!])]).toEqual(['start', [195]]);
  keep([b], 210, 90);
  keep([b], 225, 80);
  // A late record is no entry of the log, so it has no crossing.
  keep([b], 218, 120);
  keep([b], 240, 110);
  const moved = b.connect(crossed!.id, SPX, on);
  expect(secondsOf(readAll(moved()))).toEqual([195, 210, 240]);
  keep([b], 255, 90);
  const [next] = readAll(moved());
  expect(secondsOf([next!])).toEqual([255]);
  expect(readAll(b.connect(next!.id, SPX, on)())).toEqual([]);
  // The start event leads to the same crossings.
  expect(secondsOf(readAll(b.connect(start!.id, SPX, on)()))).toEqual([195, 210, 240, 255]);
});

test.each([1, 12, 20])('%p dead tickers of 40 make no stream repeat hours, and no long ids', (dead) => {
  const clock = { nowMs: MONDAY_MS };
  const [a, b] = [startServer(clock), startServer(clock)];
  const tickers = Array.from({ length: 40 }, (_, i) => `T${i}`);
  for (let round = 0; round < 30; round++) {
    const at = MONDAY_MS + 2_700_000 * round;
    clock.nowMs = at + 1_000;
    for (const ticker of tickers.slice(round < 5 ? 0 : dead)) for (const each of [a, b]) each.keep(ticker, at);
  }
  const { id } = readAll(a.connect(undefined, tickers)()).at(-1)!;
  expect(id.length).toBeLessThan(200);
  expect(readAll(b.connect(id, tickers)()).length).toBeLessThan(4 * tickers.length);
});
