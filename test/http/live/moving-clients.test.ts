import { expect, test } from 'bun:test';
import { randomOf } from '../../../src/feeds/simulated/random.ts';
import { OVERLAP_MS } from '../../../src/http/live/level-marks.ts';
import { MONDAY_MS } from '../../store/samples.ts';
import { eventIdOf } from '../../support/event-ids.ts';
import { LevelServer, type ReadEvent } from '../../support/level-servers.ts';
import { IS_FULL } from '../../support/size.ts';

const TICKERS = ['SPX', 'QQQ', 'NDX'];
const ROUND_MS = 15_000;
const ROUNDS = 60;
/** Rounds that both servers have in order, before the client first connects. */
const FIRST_ROUNDS = 8;
/** A client that has come from the other server gets late records at least for this time. */
const LATE_MS = 5 * 60_000;

/** A record as a server has stored it. */
interface Kept {
  readonly key: string;
  readonly ticker: string;
  readonly asOf: number;
  readonly seq: number;
  readonly isEntry: boolean;
}

const keyOf = ({ ticker, asOf }: Pick<Kept, 'ticker' | 'asOf'>) => `${ticker} ${(asOf - MONDAY_MS) / 1_000}`;

/** Returns the rounds in the order in which a server stores them: some a few rounds late, and some after a stall of a ticker. */
function scheduleOf(random: () => number): { readonly ticker: string; readonly round: number; readonly at: number }[] {
  return TICKERS.flatMap((ticker) => {
    let stalledTo = 0;
    return Array.from({ length: ROUNDS }, (_, round) => {
      if (round < FIRST_ROUNDS) return { ticker, round, at: round };
      if (round > stalledTo && random() < 0.03) stalledTo = round + 4 + Math.floor(20 * random());
      const late = random() < 0.15 ? 1 + Math.floor(3 * random()) : 0;
      return { ticker, round, at: Math.max(round, stalledTo) + late };
    });
  }).sort((a, b) => a.at - b.at || a.round - b.round);
}

/** Runs a market with two servers and a client. Returns how many levels the client got in all, and how many of them more than once. */
function runOnce(seed: number): { readonly got: number; readonly repeated: number } {
  const { uniform: random } = randomOf(seed);
  const clock = { nowMs: MONDAY_MS };
  const servers = [new LevelServer(clock), new LevelServer(clock)].map((server) => ({
    server,
    name: server.store.levelLogName(),
    schedule: scheduleOf(random),
    kept: [] as Kept[],
  }));
  type Side = (typeof servers)[number];
  const newest = new Map<string, number>();
  const seen = new Set<string>();
  /** What the client must have when it has read all events of its connection. */
  let due = new Set<string>();
  /** The moments above which late records are due, until a time, by the server to which the client came from the other one. */
  const lateAt = new Map<Side, { readonly above: ReadonlyMap<string, number>; readonly untilMs: number }>();
  let last: string | undefined;
  let count = 0;
  let connection: { side: Side; events: () => Iterable<ReadEvent>; isLate: boolean; seen: Set<string> } | undefined;
  /** What the client has got from the server of its last id, without a change of the server. */
  let once: { of: Side | undefined; seen: Set<string> } = { of: undefined, seen: new Set() };

  const take = (most = Number.POSITIVE_INFINITY): void => {
    for (const event of connection!.events()) {
      last = event.id;
      count++;
      const key = keyOf(event);
      if (connection!.seen.has(key)) throw new Error(`seed ${seed}: ${key} twice from one server`);
      connection!.seen.add(key);
      seen.add(key);
      newest.set(event.ticker, Math.max(newest.get(event.ticker)!, event.asOf));
      if (--most > 0) continue;
      connection = undefined;
      return;
    }
    const missing = [...due].filter((key) => !seen.has(key));
    if (missing.length > 0) throw new Error(`seed ${seed}: lost ${missing} at ${(clock.nowMs - MONDAY_MS) / 1_000}`);
  };
  const isDue = (side: Side, { ticker, asOf, isEntry }: Kept, takesLate: boolean): boolean => {
    if (isEntry || !takesLate) return isEntry;
    // A client that left the other server before it had a place there comes back with its place here, and what was due with it.
    const { untilMs, above } = lateAt.get(side)!;
    return clock.nowMs < untilMs && asOf > above.get(ticker)!;
  };
  const connect = (side: Side, most?: number): void => {
    const id = last === undefined ? undefined : eventIdOf(last);
    const isOwn = id?.log === side.name;
    if (id && !isOwn) {
      const above = new Map(TICKERS.map((ticker) => [ticker, newest.get(ticker)! - OVERLAP_MS]));
      lateAt.set(side, { above, untilMs: clock.nowMs + LATE_MS });
      due = new Set(side.kept.filter(({ ticker, asOf }) => asOf > above.get(ticker)!).map(keyOf));
    } else if (id) {
      due = new Set(side.kept.filter((each) => each.seq > id.seq && isDue(side, each, id.isLate)).map(keyOf));
    }
    // What is older than the levels with which the stream began is not due.
    if (!id) for (const { ticker, asOf } of side.kept) newest.set(ticker, Math.max(newest.get(ticker) ?? 0, asOf));
    if (!isOwn || once.of !== side) once = { of: side, seen: new Set() };
    const events = side.server.connect(last, TICKERS);
    connection = { side, events, isLate: id !== undefined && (!isOwn || id.isLate), seen: once.seen };
    take(most);
  };

  for (let now = 0; servers.some(({ schedule }) => schedule.length > 0); now++) {
    clock.nowMs = MONDAY_MS + now * ROUND_MS;
    for (const side of servers) {
      while (side.schedule[0]?.at === now) {
        const { ticker, round } = side.schedule.shift()!;
        const asOf = MONDAY_MS + round * ROUND_MS;
        clock.nowMs++;
        side.server.keep(ticker, asOf);
        const seq = side.server.store.lastLevelSeq();
        const { isEntry } = side.server.store.levelRecords([seq])[0]!;
        const kept: Kept = { key: keyOf({ ticker, asOf }), ticker, asOf, seq, isEntry };
        side.kept.push(kept);
        if (connection?.side === side && isDue(side, kept, connection.isLate)) due.add(kept.key);
      }
      if (connection?.side === side) take();
    }
    if (now < FIRST_ROUNDS) continue;
    const [chance, side] = [random(), servers[Math.floor(2 * random())]!];
    if (chance < 0.1) side.server.restart();
    if (chance < 0.1 && connection?.side === side) connection = undefined;
    else if (chance < 0.2) connection = undefined;
    else if (chance < 0.5) connect(side, random() < 0.4 ? 1 + Math.floor(12 * random()) : undefined);
  }
  connect(servers[0]!);
  connect(servers[1]!);
  for (const { server } of servers) server.store.close();
  return { got: seen.size, repeated: count - seen.size };
}

test('a client that moves at random between two servers gets what both have, and each once from one', () => {
  const seeds = Array.from({ length: IS_FULL ? 200 : 30 }, (_, i) => i + 1);
  const runs = seeds.map(runOnce);
  const most = TICKERS.length * (ROUNDS - FIRST_ROUNDS);
  // Few levels are of neither server when the client is there, or late at both.
  const got = runs.reduce((sum, each) => sum + each.got, 0) / runs.length;
  expect(got).toBeGreaterThan(0.9 * most);
  expect(runs.every(({ repeated }) => repeated > 0)).toBe(true);
}, 600_000);
