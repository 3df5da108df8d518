import { describe, expect, test } from 'bun:test';
import { randomOf } from '../../../src/feeds/simulated/random.ts';
import { DAY_MS } from '../../../src/market/calendar.ts';
import { AHEAD_MS } from '../../../src/market/market.ts';
import type { Print } from '../../../src/market/prints.ts';
import { createAnswerCache, keyOfArguments } from '../../../src/operations/engine/answer-cache.ts';
import { type Context, hasPassed } from '../../../src/operations/engine/operation.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { AS_OF, EXPIRY, LATER } from '../../analytics/small-chains.ts';
import { keepLevels, printOf, withStoreFile } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { smallMarket } from '../small-market.ts';
import { type Asked, keepDueLevels, smallChain, twoServers } from './two-servers.ts';

const TICKERS = ['SPY', 'QQQ', 'NVDA'];

const printIn = (id: string, changes: Partial<Print> = {}) =>
  printOf(id, {
    ...{ underlying: 'SPY', root: 'SPY', expiry: EXPIRY, strike: 100, price: 30, size: 100, at: AS_OF - 60_000 },
    ...{ bid: 29, ask: 30, simulated: false, multiLeg: false, delta: 0.5 },
    ...changes,
  });

/** Two servers with a snapshot, levels, prints, closes and dividends of some tickers. */
function filledServers() {
  const servers = twoServers();
  const { store } = servers;
  for (const [i, ticker] of TICKERS.entries()) {
    for (const days of [10, 3, 0]) store.saveChain(smallChain(ticker, AS_OF - days * DAY_MS, 100 + i - days));
    store.savePrints([printIn(`${ticker} first`, { underlying: ticker, root: ticker })]);
    store.saveCloses([{ ticker, date: '2026-01-02', close: 99, volume: 1e6, simulated: false }]);
    store.saveDividends([
      { ticker, exDate: '2026-01-09', amount: 0.5, status: 'declared', knownFrom: 0, simulated: false },
    ]);
  }
  keepDueLevels(store);
  return servers;
}

/** What each face answers about a ticker. */
const questions = (ticker: string): readonly Asked[] => [
  { get: `/api/v1/nodes/gex/${ticker}` },
  { get: `/api/v1/nodes/gex/${ticker}?sign=flow` },
  { get: `/api/v1/nodes/gex/${ticker}/view` },
  { get: `/api/v1/nodes/gex/${ticker}/strikes` },
  { get: `/api/v1/nodes/gex/${ticker}/expiries` },
  { get: `/api/v1/nodes/gex/${ticker}/hedging` },
  { get: `/api/v1/nodes/gex/${ticker}/history` },
  { get: `/api/v1/nodes/gex/${ticker}/record` },
  { get: `/api/v1/nodes/gex/${ticker}?at=2026-01-03` },
  { get: `/api/v1/quotes/${ticker}?expiry=${EXPIRY}` },
  { get: `/api/v1/flow/${ticker}` },
  { get: `/api/v1/flow/${ticker}/prints` },
  { get: '/api/v1/screen' },
  { get: `/api/v1/screen?tickers=${ticker}` },
  { tool: 'get_live_gex_nodes', args: { ticker } },
  { tool: 'get_live_gex_nodes', args: { ticker }, extended: true },
  { tool: 'get_whale_prints', args: { ticker, target_expiry: EXPIRY }, extended: true },
  { tool: 'get_levels_history', args: { ticker, compare_with: '2026-01-02' } },
  { tool: 'screen_tickers', args: { where: ['age_s<1000000'] }, extended: true },
  { mcp: 'get_live_gex_nodes', args: { ticker } },
  { mcp: 'get_whale_prints', args: { ticker, target_expiry: LATER } },
  { mcp: 'get_levels_history', args: { ticker, from: 'yesterday' } },
  { mcp: 'get_hedging_profile', args: { ticker } },
  {
    mcp: 'evaluate_etf_contagion',
    args: { single_name_ticker: 'NVDA', whale_fiat: 2e9, current_iv: 0.5, iv_ceiling: 0.3 },
  },
  {
    mcp: 'calculate_merton_probability',
    args: { ticker, spot_price: 100, ambush_strike: 105, days_to_expiry: 3, stag_prob: 0.5 },
  },
];

describe('10,000 requests, writes and moments in any order give what a server without cached answers gives', () => {
  test.each([1, 2, 3, 4])('seed %i', async (seed) => {
    const random = randomOf(seed);
    const { clock, store, caching, fresh } = filledServers();
    const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(random.uniform() * items.length)]!;
    const chance = (share: number) => random.uniform() < share;
    let [count, stepsLeft] = [0, 2_500];
    const spot = () => 90 + Math.round(20 * random.uniform());
    const asked = TICKERS.flatMap(questions);
    const tags = new Map<string, string>();
    const events: readonly ((ticker: string) => void)[] = [
      (ticker) => store.saveChain(smallChain(ticker, clock.ms, spot())),
      // A late snapshot, a correction of the newest one, and one whose date is ahead of the clock.
      (ticker) => store.saveChain(smallChain(ticker, clock.ms - Math.round(random.uniform() * DAY_MS), spot())),
      (ticker) => {
        const newest = store.latestChainId(ticker, false, clock.ms);
        const chain = newest === undefined ? undefined : store.chain(newest);
        if (chain) store.saveChain(smallChain(ticker, chain.asOf, spot()));
      },
      (ticker) => store.saveChain(smallChain(ticker, clock.ms + AHEAD_MS + 5_000, spot())),
      () => keepDueLevels(store),
      () => keepDueLevels(store),
      (ticker) =>
        store.savePrints([printIn(`p${count++}`, { underlying: ticker, root: ticker, at: clock.ms, price: spot() })]),
      (ticker) => store.savePrints([printIn(`${ticker} first`, { underlying: ticker, root: ticker, price: spot() })]),
      (ticker) => store.savePrints([printIn(`${ticker} first`, { underlying: ticker, root: ticker, canceled: true })]),
      (ticker) => store.saveCloses([{ ticker, date: '2026-01-02', close: spot(), volume: spot(), simulated: false }]),
      (ticker) =>
        store.saveDividends([
          { ticker, exDate: '2026-01-09', amount: spot() / 100, status: 'declared', knownFrom: 0, simulated: false },
        ]),
      (ticker) => store.forgetSnapshots(ticker, chance(0.3) ? undefined : store.snapshots(ticker)[0]?.asOf),
      () => void store.removeOld({ presentMs: clock.ms, chainsFromMs: clock.ms - 2 * DAY_MS }),
      () => store.connection('massive', chance(0.5), clock.ms, 'lost'),
      // A poll without data, which changes no answer.
      () => store.pollBegan('files', clock.ms),
    ];
    const steps: readonly number[] = [1, 499, 500, 1_000, 1_000, 60_000, AHEAD_MS, 3_600_000, DAY_MS];
    while (stepsLeft-- > 0) {
      if (chance(0.1)) oneOf(events)(oneOf(TICKERS));
      if (chance(0.1)) clock.ms += chance(0.05) ? -oneOf(steps) : oneOf(steps);
      // Some requests are frequent, so that their answers are found again.
      const plain = chance(0.8) ? asked[Math.floor(random.uniform() ** 4 * asked.length)]! : oneOf(asked);
      const tag = 'get' in plain && chance(0.2) ? tags.get(plain.get) : undefined;
      const question = tag === undefined ? plain : { ...plain, tag };
      const [answer, expected] = [await caching.ask(question), await fresh.ask(question)];
      if (JSON.stringify(answer) !== JSON.stringify(expected)) {
        expect({ seed, question, ...answer }).toEqual({ seed, question, ...expected });
      }
      const { etag } = answer.headers as { etag?: string };
      if ('get' in plain && etag !== undefined) tags.set(plain.get, etag);
    }
    expect(caching.counts.hits).toBeGreaterThan(500);
    expect(fresh.counts.hits).toBe(0);
    store.close();
  });
});

/** The questions of the table of invalidations, by name. */
const QUESTIONS = {
  gex: { get: '/api/v1/nodes/gex/SPY' },
  view: { get: '/api/v1/nodes/gex/SPY/view' },
  replay: { get: '/api/v1/nodes/gex/SPY?at=2026-01-03' },
  history: { get: '/api/v1/nodes/gex/SPY/history' },
  whales: { tool: 'get_whale_prints', args: { ticker: 'SPY', target_expiry: EXPIRY }, extended: true },
  hedging: { mcp: 'get_hedging_profile', args: { ticker: 'SPY' } },
  screen: { tool: 'screen_tickers', args: {} },
  other: { mcp: 'get_live_gex_nodes', args: { ticker: 'QQQ' } },
  universe: { get: '/api/v1/universe' },
} as const satisfies Record<string, Asked>;
type Name = keyof typeof QUESTIONS;
const NAMES = Object.keys(QUESTIONS) as Name[];
const OF_SPY: readonly Name[] = ['gex', 'view', 'replay', 'history', 'whales', 'hedging', 'screen'];

type Servers = ReturnType<typeof filledServers>;

/** Asks every question of both servers, expects equal answers, and returns the questions that were computed. */
async function computedOf({ caching, fresh }: Servers): Promise<Name[]> {
  const computed: Name[] = [];
  for (const name of NAMES) {
    const before = caching.counts.misses;
    const answer = await caching.ask(QUESTIONS[name]);
    if (caching.counts.misses > before) computed.push(name);
    expect({ name, ...answer }).toEqual({ name, ...(await fresh.ask(QUESTIONS[name])) });
    expect(answer.status).toBe(200);
  }
  return computed;
}

describe('a cached answer is computed anew after', () => {
  const NEWEST = AS_OF;
  const LEVELS = { underlying: 'SPY', spot: 105, simulated: false };
  const at = (asOf: number, spot = 105) => smallChain('SPY', asOf, spot);
  const rows: [what: string, change: (servers: Servers) => unknown, computed: readonly Name[]][] = [
    ['a new snapshot', ({ store }) => store.saveChain(at(NEWEST + 1_000)), OF_SPY],
    ['a late snapshot', ({ store }) => store.saveChain(at(NEWEST - 5 * DAY_MS)), OF_SPY],
    ['a correction of a snapshot', ({ store }) => store.saveChain(at(NEWEST, 104)), OF_SPY],
    ['a correction of a past snapshot', ({ store }) => store.saveChain(at(NEWEST - 3 * DAY_MS, 104)), OF_SPY],
    ['the levels of a snapshot', ({ store }) => keepLevels(store, { ...LEVELS, asOf: NEWEST + 1 }), OF_SPY],
    ['a snapshot that is forgotten', ({ store }) => store.forgetSnapshots('SPY', NEWEST), OF_SPY],
    ['a past snapshot that is forgotten', ({ store }) => store.forgetSnapshots('SPY', NEWEST - 10 * DAY_MS), OF_SPY],
    [
      'a large print',
      ({ store }) => store.savePrints([printIn('late', { size: 900 })]),
      ['gex', 'view', 'replay', 'whales', 'hedging'],
    ],
    [
      'a print that is canceled',
      ({ store }) => store.savePrints([printIn('SPY first', { canceled: true })]),
      ['gex', 'view', 'replay', 'whales', 'hedging'],
    ],
    [
      'a close',
      ({ store }) =>
        store.saveCloses([{ ticker: 'SPY', date: '2026-01-02', close: 98, volume: 2e6, simulated: false }]),
      ['view', 'hedging'],
    ],
    [
      'a dividend',
      ({ store }) =>
        store.saveDividends([
          { ticker: 'SPY', exDate: '2026-01-09', amount: 1, status: 'declared', knownFrom: 0, simulated: false },
        ]),
      ['gex', 'view', 'replay', 'whales', 'hedging'],
    ],
    ['a gap of the stream', ({ store }) => store.connection('massive', false, NEWEST - 10, 'lost'), ['whales']],
    ['retention', ({ store }) => store.removeOld({ presentMs: NEWEST, printsFromMs: NEWEST - 90 * DAY_MS }), NAMES],
    ['a settlement', ({ clock }) => (clock.ms = Date.parse(`${EXPIRY}T21:00:00Z`)), ['gex', 'view', 'screen', 'other']],
    [
      'a clock that goes back',
      ({ clock }) => (clock.ms = NEWEST - AHEAD_MS - 5_000),
      NAMES.filter((name) => !['replay', 'universe'].includes(name)),
    ],
    ['the next second, if ages are figures', ({ clock }) => (clock.ms += 500), ['screen']],
  ];
  test.each(rows)('%s', async (_, change, computed) => {
    const servers = filledServers();
    expect(await computedOf(servers)).toEqual(NAMES);
    expect(await computedOf(servers)).toEqual([]);
    change(servers);
    expect(await computedOf(servers)).toEqual(NAMES.filter((name) => computed.includes(name)));
    expect(await computedOf(servers)).toEqual([]);
    servers.store.close();
  });
});

describe('a cached answer stays valid after', () => {
  const member = {
    uuid: '0b9f5a3c-6d1e-4c7a-8f2b-1a2b3c4d5e6f',
    tier: 'a',
    status: 'active',
    expiresAt: null,
  } as const;
  const rows: [what: string, change: (servers: Servers) => unknown, computed?: readonly Name[]][] = [
    ['polls without data', ({ store }) => poll(store)],
    [
      'a rejected file',
      ({ store }) => store.rejected({ feed: 'files', origin: 'x', reason: 'y', ticker: 'SPY', at: 1 }),
    ],
    ['a checkpoint', ({ store }) => store.setCheckpoint('files', 'a', 'b')],
    [
      'a new member',
      ({ store }) =>
        store.saveMember({
          ...{ ...member, accountId: 'x', generation: 0, keyDigest: 'y', previousDigest: null, previousUntil: null },
        }),
    ],
    ['a snapshot of another ticker', ({ store }) => store.saveChain(smallChain('IWM', AS_OF, 50)), ['screen']],
    // The ages in the headers and in the provenance still grow. `computedOf` compares them with those of the other server.
    ['a second', ({ clock }) => (clock.ms += 1_000), ['screen']],
    ['the time in which quotes become stale', ({ clock }) => (clock.ms += 16 * 60_000), ['screen']],
    [
      'the time until just before a settlement',
      ({ clock }) => (clock.ms = Date.parse(`${EXPIRY}T20:59:59Z`)),
      ['screen'],
    ],
  ];
  function poll(store: Servers['store']): void {
    store.openFeeds([{ name: 'files', simulated: false, tickers: [] }]);
    store.pollBegan('files', AS_OF);
    store.pollEnded({ feed: 'files', beganAt: AS_OF, endedAt: AS_OF, nextAt: AS_OF + 5_000, error: null });
  }
  test.each(rows)('%s', async (_, change, computed = []) => {
    const servers = filledServers();
    await computedOf(servers);
    change(servers);
    expect(await computedOf(servers)).toEqual([...computed]);
    servers.store.close();
  });
});

describe('moments', () => {
  /** Asks a question at each moment. Returns how often it was computed, and the ages of the answers. */
  async function askedAt(question: Asked, moments: readonly number[], prepare: (servers: Servers) => void = () => {}) {
    const servers = filledServers();
    prepare(servers);
    const seen: string[] = [];
    for (const ms of moments) {
      servers.clock.ms = ms;
      const { headers, body } = await servers.caching.ask(question);
      expect({ ms, headers, body }).toMatchObject({
        ms,
        ...(({ status: _, ...rest }) => rest)(await servers.fresh.ask(question)),
      });
      const { 'x-data-age': age, 'x-data-stale': stale } = headers as Record<string, string>;
      seen.push(age === undefined ? (/"age":"([^"]*)"/.exec(body)?.[1] ?? body) : `${age} ${stale}`);
    }
    servers.store.close();
    return { computed: servers.caching.counts.misses, seen };
  }
  const later = (...seconds: number[]) => seconds.map((each) => AS_OF + 1_000 * each);
  const ahead = ({ store }: Servers) => store.saveChain(smallChain('SPY', AS_OF + AHEAD_MS + 60_000, 110));

  test('over REST, the age and stale are written when the answer is sent', async () => {
    const { computed, seen } = await askedAt(QUESTIONS.gex, later(0, 0.4, 0.5, 900, 900.4, 901));
    expect(seen).toEqual(['0 false', '0 false', '1 false', '900 false', '900 true', '901 true']);
    expect(computed).toBe(1);
  });
  test('in an extended answer and over MCP, the provenance is written when the answer is sent', async () => {
    const whales = await askedAt(QUESTIONS.whales, later(0, 60, 3_600));
    expect(whales).toEqual({ computed: 1, seen: ['0 false', '60 false', '3600 true'] });
    const other = await askedAt(QUESTIONS.other, later(0, 60, 7_200));
    expect(other).toEqual({ computed: 1, seen: ['0 s', '60 s', '2 h'] });
  });
  test('a replay is as old as at its moment', async () => {
    expect((await askedAt(QUESTIONS.replay, later(0, 60))).computed).toBe(1);
  });
  test('a snapshot ahead of the clock replaces the newest one when the clock reaches it', async () => {
    const { computed, seen } = await askedAt(QUESTIONS.gex, later(0, 59, 60, 61, 59), ahead);
    expect([computed, seen]).toEqual([3, ['0 false', '59 false', '-900 false', '-899 false', '59 false']]);
  });
  test.each([
    ['midnight in New York', '2026-01-06T05:00:00Z'],
    ['the end of the horizon', '2026-01-08T21:00:00Z'],
  ])('the note on a horizon changes at %s', async (_, moment) => {
    const args = { ticker: 'SPY', spot_price: 100, ambush_strike: 105, days_to_expiry: 3, stag_prob: 0.5 };
    const ms = Date.parse(moment);
    expect((await askedAt({ mcp: 'calculate_merton_probability', args }, [ms - 2, ms - 1, ms, ms + 1])).computed).toBe(
      2,
    );
  });
  test('a gap without an end counts from the next session', async () => {
    const night = Date.parse('2026-01-06T01:00:00Z');
    const open = Date.parse('2026-01-06T14:30:00Z');
    const lose = ({ store }: Servers) => store.connection('massive', false, night, 'lost');
    expect((await askedAt(QUESTIONS.whales, [night + 1, open - 1, open, open + 1], lose)).computed).toBe(2);
  });
  test.each(['yesterday', 'today'])('an answer to the word %s is not cached', async (from) => {
    const prepare = ({ store }: Servers) => store.saveChain(smallChain('SPY', AS_OF - 1_000, 101));
    const question = { mcp: 'get_levels_history', args: { ticker: 'SPY', from } } as const;
    expect((await askedAt(question, later(0, 1), prepare)).computed).toBe(2);
  });
});

describe('the cache', () => {
  function cacheOf(limits: Parameters<typeof createAnswerCache>[2] = {}) {
    const { context, store } = smallMarket();
    const tickers: string[] = [];
    const cache = createAnswerCache({ ...context, onTicker: (ticker) => tickers.push(ticker) }, store, limits);
    const add = (key: string, bytes = 0) => cache.record(key).add({ key }, bytes);
    return { cache, add, tickers, has: (...keys: string[]) => keys.map((key) => cache.get(key) !== undefined) };
  }
  const MIB = 1024 * 1024;

  test('has 32 MiB for all answers, and 1 MiB for one', () => {
    const { cache, add, has } = cacheOf();
    for (let each = 0; each < 40; each++) add(`${each}`, MIB - 4_096);
    expect(cache.bytes).toBeWithin(31 * MIB, 32 * MIB);
    add('large', MIB + 1);
    expect(has('0', '7', '39', 'large')).toEqual([false, false, true, false]);
  });
  test('removes the least recently used answers first', () => {
    const { add, has } = cacheOf({ bytesMax: 40_000 });
    for (const key of ['a', 'b', 'c']) add(key, 10_000);
    expect(has('a')).toEqual([true]);
    add('d', 10_000);
    expect(has('a', 'b', 'c', 'd')).toEqual([true, false, true, true]);
  });
  test('counts compressed forms, and ignores those of removed answers', () => {
    const { cache, add, has } = cacheOf({ bytesMax: 40_000 });
    const [growA, growB] = [add('a', 10_000), add('b', 10_000)];
    growA(20_000);
    expect(has('a', 'b')).toEqual([false, true]);
    const { bytes } = cache;
    growA(1_000);
    expect(cache.bytes).toBe(bytes);
    growB(1_000);
    expect(cache.bytes).toBe(bytes + 1_000);
  });
  test('replaces an answer of the same key, and stores none with a long key', () => {
    const { cache, add, has } = cacheOf();
    add('a', 5_000);
    const { bytes } = cache;
    add('a', 5_000);
    expect(cache.bytes).toBe(bytes);
    const long = 'x'.repeat(2_049);
    add(long);
    expect(has(long)).toEqual([false]);
  });
  test('names the ticker of a request again', () => {
    const { cache, tickers } = cacheOf();
    const recording = cache.record('a');
    recording.context.onTicker?.('SPY');
    recording.add({}, 0);
    cache.get('a');
    expect(tickers).toEqual(['SPY', 'SPY']);
  });
  test.each([100, 17, 1])('an answer that reads 100 tickers, %i at once, depends on all of them', (atOnce) => {
    const { context, store } = smallMarket({ chains: [smallChain('SPY', AS_OF, 100)] });
    const cache = createAnswerCache(context, store);
    const recording = cache.record('a');
    const tickers = Array.from({ length: 100 }, (_, i) => `T${i}`);
    for (let i = 0; i < 100; i += atOnce) recording.context.market.newestLevels(tickers.slice(i, i + atOnce));
    recording.add({}, 0);
    expect(cache.get('a')).toEqual({});
    store.saveChain(smallChain('OTHER', AS_OF, 100));
    expect(cache.get('a')).toBeUndefined();
    store.close();
  });
  test('stores no answer whose data changed while it was computed', () => {
    const { context, store } = smallMarket({ chains: [smallChain('SPY', AS_OF, 100)] });
    const cache = createAnswerCache(context, store);
    const recording = cache.record('a');
    recording.context.market.chain('SPY');
    store.saveChain(smallChain('SPY', AS_OF, 101));
    recording.context.market.chain('SPY');
    recording.add({}, 0);
    expect(cache.get('a')).toBeUndefined();
    store.close();
  });
  test.each([
    ['the clock', ({ nowMs }: Context) => nowMs(), true],
    ['a moment to come', (context: Context) => hasPassed(Number.MAX_SAFE_INTEGER, context), false],
  ])('an answer that asks for %s', (_, read, isOfNow) => {
    const { cache } = cacheOf();
    const recording = cache.record('a');
    read(recording.context);
    recording.add({}, 0);
    expect(cache.get('a') === undefined).toBe(isOfNow);
  });
  test('an answer about the present moment is valid for the given time, and not before that moment', () => {
    const { context, store } = smallMarket();
    const clock = { ms: AS_OF };
    const cache = createAnswerCache({ ...context, nowMs: () => clock.ms }, store);
    const recording = cache.record('a', 50);
    recording.context.nowMs();
    clock.ms += 10;
    recording.context.nowMs();
    recording.add({}, 0);
    const isKnownAt = (ms: number) => {
      clock.ms = ms;
      return cache.get('a') !== undefined;
    };
    expect([AS_OF, AS_OF + 49, AS_OF + 50].map(isKnownAt)).toEqual([true, true, false]);
    store.close();
  });
  test('learns of writes of another process', () =>
    withStoreFile(async (store, path) => {
      store.saveChain(smallChain('SPY', AS_OF, 100));
      const { context } = smallMarket();
      const cache = createAnswerCache(context, store);
      cache.record('a').add({}, 0);
      expect(cache.get('a')).toEqual({});
      const other = openStore(path, Date.now, 'write');
      other.saveChain(smallChain('SPY', AS_OF + 1, 100));
      other.close();
      await until(() => cache.get('a') === undefined);
    }));
});

test.each([
  [{ a: 1, b: ['x'], c: null }, '{"a":1,"b":["x"],"c":null}'],
  [undefined, undefined],
  [{ a: -0 }, undefined],
  [{ a: [Number.POSITIVE_INFINITY] }, undefined],
  [{ a: '-0' }, '{"a":"-0"}'],
])('the key of the arguments %j', (args, key) => {
  expect(keyOfArguments(args)).toBe(key);
});
