import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { sessionLine } from '../../src/cli/feeds-command.ts';
import { feedReport } from '../../src/operations/feed-status.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { smallMarket } from '../operations/small-market.ts';
import { PROGRAM, type Run, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** `zomma feeds` as an operator runs it, with a feed database written as by a server. */
const dataDir = folderForTests();

const MINUTE_MS = 60_000;
const feeds = (...args: string[]): Promise<Run> => run(PROGRAM, ['feeds', ...args, '--data-dir', dataDir]);

function ledger(write: (store: Store, now: number) => void): void {
  const store = openStore(join(dataDir, 'zomma.sqlite'), Date.now);
  write(store, Date.now());
  store.close();
}

const came = (feed: string, ticker: string, at: number, expected: number, received: number) => ({
  ...{ feed, ticker, at, asOf: at, isFresh: true, expected, received, refused: { bad_symbol: 2 } },
});

test('reports no feed and exits as unhealthy if no server has run', async () => {
  expect(await feeds('--check')).toMatchObject({ code: 1, stdout: expect.stringContaining('No server has run') });
});

test('the first line states whether the exchange is open', async () => {
  const { session } = JSON.parse((await feeds('--json')).stdout);
  const [first, second] = (await feeds()).stdout.split('\n');
  expect([first, second]).toEqual([sessionLine(session), '']);
});

test.each([
  ['2026-11-20T12:00:00-05:00', 'OPEN, closes 16:00, New York time'],
  ['2026-11-22T12:00:00-05:00', 'CLOSED (weekend), opens 2026-11-23 09:30, closes 16:00, New York time'],
  ['2026-11-26T12:00:00-05:00', 'CLOSED (holiday), opens 2026-11-27 09:30, closes 13:00 (half day), New York time'],
])('the exchange at %s', (now, line) => {
  const { session } = feedReport({ ...smallMarket().context, nowMs: () => Date.parse(now) });
  expect(sessionLine(session)).toBe(`exchange  ${line}`);
});

test('shows a feed whose tickers are all fresh in four lines below that of the exchange, and its tickers with --all', async () => {
  ledger((store, now) => {
    store.openFeeds([{ name: 'cboe', simulated: false, tickers: ['SPY', 'XOM'] }]);
    for (const ticker of ['SPY', 'XOM']) store.snapshotReceived(came('cboe', ticker, now, 1_000, 1_000));
    store.pollEnded({ feed: 'cboe', beganAt: now, endedAt: now, nextAt: now + 5 * MINUTE_MS, error: null });
  });
  const { code, stdout, stderr } = await feeds('--check');
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n').slice(2);
  expect(lines[0]).toBe('cboe  OK');
  expect(lines[1]).toMatch(/^ {2}polled {5}\d+ s ago, completed \d+ s ago, next in 5 min$/);
  expect(lines.slice(2)).toEqual(['  tickers    2: 2 fresh', '  contracts  2,000 of 2,000 expected (100.0 %)']);
  expect((await feeds('--all')).stdout).toMatch(/\n {4}SPY {5}fresh .* 1000 of 1000 {2}2 bad_symbol\n/);
});

test('shows how much of the past of the simulated market is filled', async () => {
  const lineAt = async (done: number) => {
    ledger((store) => {
      store.openFeeds([{ name: 'simulated', simulated: true, tickers: ['SPY'] }]);
      store.pastFilled('simulated', { done, total: 7_316 });
    });
    return (await feeds()).stdout.split('\n').find((line) => line.startsWith('  past '));
  };
  expect(await lineAt(1_234)).toBe('  past       1,234 of 7,316 snapshots filled (16.9 %)');
  expect(await lineAt(7_316)).toBe('  past       7,316 of 7,316 snapshots filled');
});

test('shows the reason for each problem, and the exit code reports it', async () => {
  ledger((store, now) => {
    store.openFeeds([{ name: 'massive', simulated: false, tickers: ['GS', 'SPY', 'XOM'] }]);
    store.snapshotReceived(came('massive', 'SPY', now, 1_000, 600));
    const refusal = { feed: 'massive', ticker: 'XOM', origin: 'massive:XOM', reason: 'answered 503', at: now };
    for (const _ of [1, 2]) store.rejected(refusal);
    store.rejected({ ...refusal, ticker: null, origin: 'massive:stream', reason: 'the socket rejects the key' });
    store.connection('massive', false, now - 5 * MINUTE_MS, 'cut');
    store.pollBegan('massive', now);
  });
  const { code, stdout } = await feeds('--check');
  expect(code).toBe(1);
  for (const line of [
    /^massive {2}DEGRADED\n {2}polled .* polling now$/m,
    /^ {2}stream {5}DOWN for 5 min: cut$/m,
    /^ {2}tickers {4}3: 2 missing, 1 partial$/m,
    /^ {2}contracts {2}600 of 1,000 expected \(60\.0 %\)$/m,
    /^ {4}GS {6}missing {2}none .* never .* never .* none$/m,
    /^ {4}XOM {5}missing {2}none .*2 attempts: answered 503$/m,
    /^ {2}rejected \(1\)\n {4}massive:stream .* the socket rejects the key$/m,
    /^ {2}gaps \(1\)\n {4}\S+ {2}ongoing {2}cut$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
  expect(JSON.parse((await feeds('--json')).stdout)).toMatchObject({ healthy: false, feeds: [{ feed: 'massive' }] });
});

test('tells moments of a clock that was ahead as what they are', async () => {
  ledger((store, now) => {
    store.openFeeds([{ name: 'cboe', simulated: false, tickers: ['SPY'] }]);
    const ahead = now + 1_652 * 1440 * MINUTE_MS;
    store.pollEnded({ feed: 'cboe', beganAt: ahead, endedAt: ahead, nextAt: ahead, error: null });
  });
  const { stdout } = await feeds();
  expect(stdout).toMatch(/polled +never, completed never/);
  expect(stdout).toContain('the clock was ahead then, or is behind now');
  expect(stdout).not.toMatch(/-\d+ s/);
});

test('--forget removes the state of a feed that the server had earlier, and no other', async () => {
  ledger((store) => store.openFeeds([{ name: 'files', simulated: false, tickers: [] }]));
  expect(await feeds('--forget', 'files')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no feed "files"'),
  });
  expect(await feeds('--forget', 'cboe')).toMatchObject({
    code: 0,
    stdout: 'The state of the feed cboe was removed.\n',
  });
  expect(await feeds('--forget', 'cboe')).toMatchObject({ code: 1 });
});
