import { expect, test } from 'bun:test';
import { feedTable } from '../../src/store/feed-table.ts';
import { memoryDatabase } from './samples.ts';

test('the progress of the past of a feed is recorded, and survives a restart', () => {
  const db = memoryDatabase();
  db.run("INSERT INTO feeds (feed, simulated, polled_at, data_at) VALUES ('simulated', 1, 1, 4)");
  const feeds = feedTable(db);
  expect(feeds.feedStates()).toMatchObject([
    { feed: 'simulated', simulated: true, polledAt: 1, dataAt: 4, past: null },
  ]);
  feeds.pastFilled('simulated', { done: 3, total: 7 });
  feeds.pastFilled('other', { done: 1, total: 1 });
  expect(feeds.feedStates()).toMatchObject([{ feed: 'simulated', past: { done: 3, total: 7 } }]);
  feeds.openFeeds([{ name: 'simulated', simulated: true, tickers: ['SPY'] }]);
  expect(feeds.feedStates()).toMatchObject([{ past: { done: 3, total: 7 } }]);
});
