import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { tickerHealth, tickerStaleAfterMs } from '../../src/market/feed-health.ts';
import { feedTable } from '../../src/store/feed-table.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';

const MINUTE_MS = 60_000;
/** A quarter of an hour after the opening of a Tuesday. */
const START = Date.parse('2026-11-24T14:45:00Z');

/** The ledger after polls at these times, seconds after the start. Each poll delivers snapshots with quotes of these times. */
function after(polls: readonly (readonly [atS: number, ...quotedS: number[]])[]) {
  const db = new Database(':memory:', { strict: true });
  migrate(db);
  const ledger = feedTable(db);
  ledger.openFeeds([{ name: 'files', simulated: false, tickers: [] }]);
  let newest = Number.NEGATIVE_INFINITY;
  for (const [atS, ...quoted] of polls) {
    const beganAt = START + atS * 1_000;
    ledger.pollBegan('files', beganAt);
    for (const [i, quotedS] of quoted.entries()) {
      const [at, asOf] = [beganAt + i, START + quotedS * 1_000];
      const counts = { expected: 9, received: 9, refused: {} };
      ledger.snapshotReceived({ feed: 'files', ticker: 'SPY', at, asOf, isFresh: asOf > newest, ...counts });
      newest = Math.max(newest, asOf);
    }
  }
  return ledger.feedStates()[0]!.tickers[0]!;
}

const every = (stepS: number, count: number, delayS = 0) =>
  Array.from({ length: count }, (_, n) => [n * stepS, n * stepS - delayS] as const);

test.each<[string, number, Parameters<typeof after>[0], number]>([
  ['is the setting until three times are known', 30, every(15, 3), 30],
  ['is ten times the pace of 15 seconds', 30, every(15, 4), 2.5],
  ['is at least a minute', 30, every(2, 9), 1],
  ['is never longer than the setting', 30, every(300, 9), 30],
  ['is the median, so one long pause does not count', 30, [...every(15, 4), [900, 900], [915, 915], [930, 930]], 2.5],
  ['counts polls that brought nothing newer as none', 30, every(15, 17).map(([at]) => [at, at - (at % 60)]), 10],
  ['counts the snapshots of one poll as one', 30, [[0, -300, -200, -100], ...every(60, 4).slice(1)], 10],
  ['is the pace of the arrival if quotes arrive late and together', 30, every(120, 9).map(([at]) => [at, at - 15]), 20],
  [
    'is the pace of the quotes if files of other days arrive together',
    30,
    every(5, 9).map(([at]) => [at, at * 1_000]),
    30,
  ],
  [
    'does not count the night',
    30,
    [
      [0, 0],
      [15, 15],
      [30, 30],
      [45, 45],
      [86_400, 86_400],
      [86_415, 86_415],
    ],
    2.5,
  ],
])('the time after which a ticker is stale %s', (_, settingMinutes, polls, minutes) => {
  expect(tickerStaleAfterMs(after(polls), settingMinutes * MINUTE_MS)).toBe(minutes * MINUTE_MS);
});

test('a feed of 15 seconds that stops is stale after two and a half minutes of trading, however old its quotes are', () => {
  const delayed = after(every(15, 9, 900));
  const health = (laterS: number) => tickerHealth(delayed, START + (120 + laterS) * 1_000, 30 * MINUTE_MS);
  expect([health(0), health(150), health(152)]).toEqual(['fresh', 'fresh', 'stale']);
  // The exchange closes at 21:00, so half a minute of trading passes until the next opening.
  const atClose = after([...every(15, 9), [22_470, 22_470]]);
  const morning = Date.parse('2026-11-25T14:30:00Z');
  expect([60, 119, 122].map((s) => tickerHealth(atClose, morning + s * 1_000, 30 * MINUTE_MS))).toEqual([
    ...(['fresh', 'fresh', 'stale'] as const),
  ]);
});

test('a ledger of schema 14 keeps its tickers, and their pace is unknown at first', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 2));
  db.run("INSERT INTO feeds (feed, simulated) VALUES ('files', 0)");
  db.run("INSERT INTO feed_tickers (feed, ticker, fresh_at, as_of) VALUES ('files', 'SPY', 5, 4)");
  migrate(db);
  expect(feedTable(db).feedStates()[0]!.tickers).toMatchObject([{ ticker: 'SPY', freshAt: 5, gaps: [] }]);
  expect(feedTable(db).clockSteps()).toEqual([]);
});
