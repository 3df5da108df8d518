import { describe, expect, test } from 'bun:test';
import { ingestOnce } from '../../src/feeds/ingest.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import { type FeedReport, feedReport, getFeedStatus } from '../../src/operations/feed-status.ts';
import { chainOf, contract, print, quoted, range } from '../analytics/small-chains.ts';
import { callExtended, callRoute, smallMarket } from './small-market.ts';

/** The reported feed status after scripted polls, on a Monday at 15:00 in New York. */
const MINUTE_MS = 60_000;
const NOW = Date.parse('2026-01-05T20:00:00Z');
const STALE_MS = 30 * MINUTE_MS;

type Poll = readonly Delivery[] | Error;

interface Script {
  readonly tickers?: readonly string[];
  /** The polls are 15 minutes apart. The last one is now. */
  readonly polls: readonly Poll[];
  /** The time from the last poll to the report. */
  readonly laterMs?: number;
  readonly staleMs?: number;
  /** Whether another poll has begun at the time of the report. */
  readonly beginsAgain?: boolean;
}

const contracts = (count: number) => quoted({ strikes: range(90, 90 + count / 2 - 1) });
const chain = (underlying: string, asOf: number, count = 20, offered?: number): Delivery => {
  const rows = contracts(count).map((row) => contract({ ...row, root: underlying, openInterest: 10 }));
  return { kind: 'chain', chain: chainOf(rows, { underlying, asOf }), ...(offered && { offered }) };
};
const refusal = (ticker: string, reason = 'answered 503'): Delivery => ({
  ...{ kind: 'rejection', origin: `test:${ticker}`, reason, ticker },
});

async function statusAfter({ tickers = ['ACME'], polls, laterMs = 0, staleMs = STALE_MS, beginsAgain }: Script) {
  let now = NOW - (polls.length - 1) * 15 * MINUTE_MS;
  const { context, store } = smallMarket();
  const feed: Feed = {
    name: 'test',
    simulated: false,
    pace: { everyMs: MINUTE_MS, hours: 'session', delayMs: 0 },
    tickers,
    async *poll() {
      const poll = polls[Math.round((now - NOW) / MINUTE_MS / 15) + polls.length - 1]!;
      if (poll instanceof Error) throw poll;
      yield* poll;
    },
  };
  store.openFeeds([feed]);
  for (const [i] of polls.entries()) {
    now = NOW + (i - polls.length + 1) * 15 * MINUTE_MS;
    await ingestOnce({ feed, store, observe: () => {}, nowMs: () => now }).catch(() => {});
  }
  if (beginsAgain) store.pollBegan('test', NOW);
  const asked = { ...context, nowMs: () => NOW + laterMs, staleAfterMs: staleMs };
  const status = callExtended(getFeedStatus, {}, asked) as unknown as {
    healthy: boolean;
    feeds: Record<string, unknown>[];
  };
  const [its] = status.feeds as [Record<string, unknown> & { tickers: Record<string, unknown>[] }];
  return { healthy: status.healthy, feed: its, ticker: its.tickers[0]! };
}

const before = (minutes: number) => NOW - minutes * MINUTE_MS;

const STATES: [name: string, script: Script, feed: string, ticker: string][] = [
  ['current quotes', { polls: [[chain('ACME', NOW)]] }, 'ok', 'fresh'],
  ['never polled', { polls: [] }, 'empty', 'missing'],
  ['an empty poll', { polls: [[]] }, 'empty', 'missing'],
  ['a rejection and no data ever', { polls: [[refusal('ACME')]] }, 'down', 'missing'],
  ['a rejection after data', { polls: [[chain('ACME', before(15))], [refusal('ACME')]] }, 'down', 'failing'],
  [
    'a rejection for one of two tickers',
    {
      tickers: ['ACME', 'BETA'],
      polls: [
        [chain('BETA', NOW), refusal('ACME'), chain('ACME', NOW)],
        [refusal('ACME'), chain('BETA', NOW + 1)],
      ],
    },
    'degraded',
    'failing',
  ],
  ['all tickers missing, but prints arrive', { polls: [[{ kind: 'prints', prints: [print()] }]] }, 'empty', 'missing'],
  ['data again after a rejection', { polls: [[refusal('ACME')], [chain('ACME', NOW)]] }, 'ok', 'fresh'],
  [
    'unchanged quotes for an hour',
    { polls: [[chain('ACME', before(60))], [chain('ACME', before(60))]] },
    'degraded',
    'stale',
  ],
  ['nine tenths of the listed contracts', { polls: [[chain('ACME', NOW, 36, 40)]] }, 'ok', 'fresh'],
  ['slightly less than nine tenths', { polls: [[chain('ACME', NOW, 34, 40)]] }, 'degraded', 'partial'],
  ['half of the listed contracts', { polls: [[chain('ACME', NOW, 20, 40)]] }, 'degraded', 'partial'],
  [
    'half of the previous contracts',
    { polls: [[chain('ACME', before(15), 40)], [chain('ACME', NOW, 20)]] },
    'down',
    'failing',
  ],
  ['a failed poll', { polls: [[chain('ACME', before(15))], new Error('boom')] }, 'down', 'fresh'],
  ['polls have stopped', { polls: [[chain('ACME', NOW)]], laterMs: 10 * MINUTE_MS }, 'down', 'fresh'],
  ['one of two tickers missing', { tickers: ['ACME', 'BETA'], polls: [[chain('ACME', NOW)]] }, 'degraded', 'fresh'],
  [
    'a broken stream',
    { polls: [[chain('ACME', NOW), { kind: 'connection', up: false, at: NOW, reason: 'cut' }]] },
    'degraded',
    'fresh',
  ],
];
test.each(STATES)('%s', async (_name, script, feedState, tickerState) => {
  const { healthy, feed, ticker } = await statusAfter(script);
  expect([feed.state, ticker.state, healthy]).toEqual([feedState, tickerState, feedState === 'ok']);
});

test('a folder with only tapes is not an empty feed', async () => {
  const nothing = await statusAfter({ tickers: [], polls: [[]] });
  expect([nothing.feed.state, nothing.feed.last_data]).toEqual(['empty', null]);
  const tapes = await statusAfter({ tickers: [], polls: [[{ kind: 'prints', prints: [print()] }]] });
  expect([tapes.feed.state, tapes.feed.last_data]).toEqual(['ok', new Date(NOW).toISOString()]);
});

test('quotes age in trading hours only', async () => {
  // An hour before the close, reported ten hours later.
  const night = { polls: [[chain('ACME', NOW)]], laterMs: 10 * 3_600_000 };
  const { ticker } = await statusAfter({ ...night, staleMs: 60 * MINUTE_MS });
  expect(ticker).toMatchObject({ state: 'fresh', stale: false, age_s: 10 * 3_600 });
  expect((await statusAfter({ ...night, staleMs: 59 * MINUTE_MS })).ticker.state).toBe('stale');
});

test('at the open, yesterday’s quotes have the smallest possible age', async () => {
  const opening = (minutes: number) =>
    statusAfter({ polls: [[chain('ACME', NOW)]], laterMs: (18.5 * 60 + minutes) * MINUTE_MS, staleMs: 61 * MINUTE_MS });
  expect((await opening(0)).ticker.state).toBe('fresh');
  expect((await opening(2)).ticker.state).toBe('stale');
});

test('rejects quotes dated ahead of the clock as current, and they are not fresh', async () => {
  const { feed, ticker } = await statusAfter({ polls: [[chain('ACME', NOW + 5 * 3_600_000)]] });
  expect([feed.state, ticker.state]).toEqual(['down', 'missing']);
  expect(ticker.refusal).toMatch(/dated 2026-01-06T01:00:00.000Z, which is ahead of the clock/);
});

describe('the session of the exchange', () => {
  const sessionAt = (moment: string) => {
    const context = { ...smallMarket().context, nowMs: () => Date.parse(moment) };
    return callRoute(getFeedStatus, {}, context).session;
  };
  test('is open: its open and its close', () => {
    expect(sessionAt('2026-11-27T12:00:00-05:00')).toEqual({
      ...{ state: 'open', reason: null, now: '2026-11-27T17:00:00.000Z' },
      ...{ opens_at: '2026-11-27T14:30:00.000Z', closes_at: '2026-11-27T18:00:00.000Z', half_day: true },
      last_close: '2026-11-25T21:00:00.000Z',
    });
  });
  test('is closed: the reason, and the next session', () => {
    expect(sessionAt('2026-11-22T12:00:00-05:00')).toEqual({
      ...{ state: 'closed', reason: 'weekend', now: '2026-11-22T17:00:00.000Z' },
      ...{ opens_at: '2026-11-23T14:30:00.000Z', closes_at: '2026-11-23T21:00:00.000Z', half_day: false },
      last_close: '2026-11-20T21:00:00.000Z',
    });
  });
});

test('a poll that does not complete becomes overdue', async () => {
  const hung: Script = { polls: [[chain('ACME', NOW)]], beginsAgain: true };
  expect((await statusAfter({ ...hung, laterMs: 5 * MINUTE_MS })).feed.state).toBe('ok');
  const later = await statusAfter({ ...hung, laterMs: 20 * MINUTE_MS });
  expect([later.feed.state, later.feed.next_attempt]).toEqual(['down', null]);
});

test('a poll that is dated far in the future says that the clock was ahead', async () => {
  const { store, context } = smallMarket();
  const year = 365 * 1440 * MINUTE_MS;
  store.openFeeds([{ name: 'files', simulated: false, tickers: [] }]);
  const feed = (now: number) => feedReport({ ...context, nowMs: () => now }).feeds[0]!;
  store.pollBegan('files', NOW + MINUTE_MS);
  expect(feed(NOW)).toMatchObject({ state: 'down', last_attempt: null });
  store.pollBegan('files', NOW + year);
  expect(feed(NOW)).toMatchObject({ state: 'down', error: expect.stringContaining('the clock was ahead') });
  store.pollEnded({ feed: 'files', beganAt: NOW, endedAt: NOW, nextAt: NOW + year, error: null });
  expect(feed(NOW)).toMatchObject({ state: 'down', error: expect.stringContaining('the clock was ahead') });
  store.pollEnded({ feed: 'files', beganAt: NOW, endedAt: NOW, nextAt: NOW + 4 * 1440 * MINUTE_MS, error: null });
  expect(feed(NOW)).toMatchObject({ state: 'empty', error: null });
});

test('reports rejected trades of a stream until the stream reconnects', async () => {
  const prints: Delivery = { kind: 'prints', prints: [], refused: { bad_time: 50 } };
  const message = await statusAfter({ polls: [[chain('ACME', NOW), prints]] });
  expect(message.feed.refusals).toMatchObject([{ origin: 'test:stream', reason: 'rejected trades: 50 bad_time' }]);
  expect(message.feed.state).toBe('degraded');
  const well = await statusAfter({ polls: [[chain('ACME', NOW), prints, { kind: 'connection', up: true, at: NOW }]] });
  expect(well.feed.refusals).toEqual([]);
});

test('reports the last attempt separately from the last fresh data', async () => {
  const same = chain('ACME', before(31), 20);
  const { ticker, feed } = await statusAfter({ polls: [[same], [same], [refusal('ACME', 'timed out')]] });
  expect(ticker).toMatchObject({
    ...{ last_attempt: new Date(NOW).toISOString(), last_fresh: new Date(before(30)).toISOString() },
    ...{ as_of: new Date(before(31)).toISOString(), failures: 1, refusal: 'timed out' },
    ...{ expected_contracts: 20, received_contracts: 20, coverage_pct: 100 },
  });
  expect(feed.refusals).toEqual([
    { origin: 'test:ACME', ticker: 'ACME', reason: 'timed out', at: new Date(NOW).toISOString(), times: 1 },
  ]);
});

test('without a snapshot there is no coverage, and an older snapshot does not replace the newest', async () => {
  expect((await statusAfter({ polls: [[]] })).ticker).toMatchObject({ coverage_pct: null, age_s: null, stale: true });
  const { ticker } = await statusAfter({ polls: [[chain('ACME', NOW, 20)], [chain('ACME', before(2_000), 40)]] });
  expect(ticker).toMatchObject({ as_of: new Date(NOW).toISOString(), received_contracts: 20, expected_contracts: 20 });
});

test('a gap lasts from the end of a connection to the reconnection', async () => {
  const down = (at: number): Delivery => ({ kind: 'connection', up: false, at, reason: 'cut' });
  const up = (at: number): Delivery => ({ kind: 'connection', up: true, at });
  const polls = [[up(before(50)), down(before(40)), down(before(39)), up(before(35)), down(before(10))]];
  const { feed } = await statusAfter({ polls });
  expect(feed.gaps).toEqual([
    { from: new Date(before(10)).toISOString(), to: null, reason: 'cut' },
    { from: new Date(before(40)).toISOString(), to: new Date(before(35)).toISOString(), reason: 'cut' },
  ]);
  expect(feed.stream).toEqual({ up: false, since: new Date(before(10)).toISOString(), reason: 'cut' });
});

test('limits ten thousand refusals to the newest 200', async () => {
  const many = Array.from(
    { length: 10_000 },
    (_, i): Delivery => ({ kind: 'rejection', origin: `f${i}`, reason: 'bad' }),
  );
  const { feed } = await statusAfter({ polls: [many, [{ kind: 'rejection', origin: 'last', reason: 'bad' }]] });
  const refusals = feed.refusals as { origin: string }[];
  expect([refusals.length, refusals[0]!.origin]).toEqual([200, 'last']);
});

test('leaves out feeds that are no longer configured, and drops tickers that are no longer requested', () => {
  const { store } = smallMarket();
  const open = (name: string, tickers: string[]) => store.openFeeds([{ name, simulated: false, tickers }]);
  open('one', ['A', 'B']);
  open('two', ['A', 'B']);
  open('two', ['B', 'C']);
  expect(store.feedStates().map(({ feed, tickers }) => [feed, tickers.map(({ ticker }) => ticker)])).toEqual([
    ['two', ['B', 'C']],
  ]);
  // The state of a feed stays until the operator removes it, and not while a server uses it.
  expect([store.forgetFeed('two'), store.forgetFeed('three')]).toEqual([false, false]);
  open('one', ['A']);
  expect(store.feedStates().map(({ feed, tickers }) => [feed, tickers.length])).toEqual([['one', 1]]);
  expect([store.forgetFeed('two'), store.forgetFeed('two')]).toEqual([true, false]);
});

describe('paging', () => {
  const { context, store } = smallMarket();
  const TICKERS = 1_199;
  store.openFeeds([
    { name: 'files', simulated: false, tickers: [] },
    { name: 'tapes', simulated: false, tickers: ['ACME'] },
  ]);
  store.transaction(() => {
    for (let i = 0; i < TICKERS; i++) {
      const ticker = `T${String(i).padStart(4, '0')}`;
      store.snapshotReceived({
        ...{ feed: 'files', ticker, at: NOW + i, asOf: NOW, isFresh: true, expected: 10, received: 9 },
        refused: { bad_symbol: 1 },
      });
    }
    for (let i = 0; i < 250; i++) {
      const reason = '€'.repeat(5_000);
      store.rejected({ feed: 'files', origin: `${'é'.repeat(300)}${i}`, reason, ticker: null, at: NOW + i });
    }
    store.connection('tapes', false, NOW, 'cut');
  });
  const asked = { ...context, nowMs: () => NOW };
  const page = (args: object) =>
    callRoute(getFeedStatus, args, asked) as unknown as FeedReport & { next_cursor?: string };
  const rowsOf = ({ feeds }: FeedReport) =>
    feeds.flatMap(({ feed, tickers, refusals, gaps }) => [
      ...tickers.map(({ ticker }) => `${feed} ${ticker}`),
      ...refusals.map(({ at, origin }) => `${feed} ${at} ${origin}`),
      ...gaps.map(({ from }) => `${feed} ${from}`),
    ]);

  test.each([undefined, 37, 100])('with at most %p rows a page, every row is on exactly one page', (limit) => {
    const pages: FeedReport[] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
      const next = page({ ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) });
      pages.push(next);
      cursor = next.next_cursor;
      expect(Buffer.byteLength(JSON.stringify(next))).toBeLessThan(64 * 1024);
      expect(next.feeds.map(({ feed }) => feed)).toEqual(['files', 'tapes']);
      expect(next.feeds[0]!.tickers_expected).toBe(next.feeds[0]!.tickers_by_state.fresh!);
      if (limit !== undefined) expect(rowsOf(next).length).toBeLessThanOrEqual(limit);
    }
    const all = rowsOf(feedReport(asked));
    expect(pages.flatMap(rowsOf)).toEqual(all);
    expect(all.length).toBe(1_098 + 200 + 1 + 1);
  });

  test('if there are more tickers than the limit, reports those that arrived last', () => {
    const { tickers } = feedReport(asked).feeds[0]!;
    expect([tickers.length, tickers.some(({ ticker }) => ticker === 'T1198')]).toEqual([1_098, true]);
    expect(feedReport(asked).feeds[1]!.tickers.map(({ ticker }) => ticker)).toEqual(['ACME']);
  });

  test.each(['-1', 'x', '1.5', '999999', 'ACME~1~1'])('rejects the cursor %p', (cursor) => {
    expect(() => page({ cursor })).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  });
});

test('a feed that fills a past reports how much of it is filled, and is not worse for it', () => {
  const { context, store } = smallMarket({ simulated: true }, NOW);
  store.openFeeds([{ name: 'simulated', simulated: true, tickers: [] }]);
  const past = () => feedReport(context).feeds.map((feed) => feed.past);
  expect(past()).toEqual([null]);
  const { state } = feedReport(context).feeds[0]!;
  store.pastFilled('simulated', { done: 1, total: 4 });
  expect([past(), feedReport(context).feeds[0]!.state]).toEqual([[{ done: 1, total: 4 }], state]);
});

test('says that a ticker has one expiry alone, and rejects no row for it', async () => {
  const { ticker } = await statusAfter({ polls: [[chain('ACME', NOW)]] });
  expect(ticker).toMatchObject({ notice: 'one expiry only: levels are of this expiry alone', rows_refused: {} });
});
