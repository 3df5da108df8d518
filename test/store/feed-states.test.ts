import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { feedTable } from '../../src/store/feed-table.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';

test('a database of the version before the past gets feeds without a past, and records its progress', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 10));
  db.run("INSERT INTO feeds VALUES ('simulated', 1, 1, 2, 3, 4, NULL, NULL, NULL, NULL)");
  migrate(db);
  const feeds = feedTable(db);
  expect(feeds.feedStates()).toMatchObject([
    { feed: 'simulated', simulated: true, polledAt: 1, dataAt: 4, past: null },
  ]);
  feeds.pastFilled('simulated', { done: 3, total: 7 });
  feeds.pastFilled('other', { done: 1, total: 1 });
  expect(feeds.feedStates()).toMatchObject([{ feed: 'simulated', past: { done: 3, total: 7 } }]);
  // The state of a feed survives a restart.
  feeds.openFeeds([{ name: 'simulated', simulated: true, tickers: ['SPY'] }]);
  expect(feeds.feedStates()).toMatchObject([{ past: { done: 3, total: 7 } }]);
});
