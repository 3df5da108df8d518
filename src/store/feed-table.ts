import type { Database } from 'bun:sqlite';
import type { FeedLedger } from '../market/feed-ledger.ts';

/** The ledger of the feeds. */
export function feedTable(db: Database): FeedLedger {
  const selectMarks = db.prepare<{ key: string; value: string }, [string]>(
    'SELECT key, value FROM feed_marks WHERE feed = ?',
  );
  const putMark = db.prepare<null, [string, string, string]>('INSERT OR REPLACE INTO feed_marks VALUES (?, ?, ?)');
  const dropMark = db.prepare<null, [string, string]>('DELETE FROM feed_marks WHERE feed = ? AND key = ?');
  return {
    marks: (feed) => new Map(selectMarks.all(feed).map(({ key, value }) => [key, value])),
    setMark(feed, key, value) {
      if (value === null) dropMark.run(feed, key);
      else putMark.run(feed, key, value);
    },
  };
}
