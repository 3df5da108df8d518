import type { Database } from 'bun:sqlite';
import type { FeedLedger, FeedState, Gap, TickerState } from '../market/feed-ledger.ts';

/** Maximum number of stored rejections, and of stored gaps, per feed. An operator needs no more, even if ten thousand files are bad. */
export const LEDGER_ROWS_MAX = 200;

/** Maximum number of tickers that are stored per feed. The largest universe has slightly fewer tickers. */
export const TICKERS_MAX = 1_100;

/** Creates the function that reads the state of every feed. */
export function feedStates(db: Database): FeedLedger['feedStates'] {
  const selectFeeds = db.prepare<FeedRow, []>(
    `SELECT feed, simulated, polled_at AS polledAt, completed_at AS completedAt, next_at AS nextAt, data_at AS dataAt, error, connected,
       connection_at AS connectionAt, connection_reason AS connectionReason, past_done AS pastDone, past_total AS pastTotal
     FROM feeds WHERE active = 1 ORDER BY feed`,
  );
  const selectTickers = db.prepare<
    Omit<TickerState, 'refused' | 'gaps'> & { refused: string; gaps: string },
    [string, number]
  >(
    `SELECT ticker, attempted_at AS attemptedAt, fresh_at AS freshAt, as_of AS asOf, expected, received, refused, gaps, failures, refusal
     FROM feed_tickers WHERE feed = ? ORDER BY ticker LIMIT ?`,
  );
  const selectRejections = db.prepare<FeedState['refusals'][number], [string, number]>(
    'SELECT origin, reason, ticker, at, times FROM feed_refusals WHERE feed = ? ORDER BY at DESC, origin LIMIT ?',
  );
  const selectGaps = db.prepare<Gap, [string]>(
    'SELECT from_at AS "from", to_at AS "to", reason FROM feed_gaps WHERE feed = ? ORDER BY from_at DESC',
  );
  return () =>
    selectFeeds.all().map(({ connected, connectionAt, connectionReason, pastDone, pastTotal, simulated, ...row }) => ({
      ...row,
      simulated: simulated === 1,
      connection:
        connected === null || connectionAt === null
          ? null
          : { up: connected === 1, at: connectionAt, reason: connectionReason },
      past: pastDone === null || pastTotal === null ? null : { done: pastDone, total: pastTotal },
      tickers: selectTickers
        .all(row.feed, TICKERS_MAX)
        .map((ticker) => ({ ...ticker, refused: JSON.parse(ticker.refused), gaps: JSON.parse(ticker.gaps) })),
      refusals: selectRejections.all(row.feed, LEDGER_ROWS_MAX),
      gaps: selectGaps.all(row.feed),
    }));
}

interface FeedRow extends Pick<FeedState, 'feed' | 'polledAt' | 'completedAt' | 'nextAt' | 'dataAt' | 'error'> {
  readonly simulated: number;
  readonly connected: number | null;
  readonly connectionAt: number | null;
  readonly connectionReason: string | null;
  readonly pastDone: number | null;
  readonly pastTotal: number | null;
}

/** Creates the functions that read and write gaps. A gap is a period in which the stream of a feed was down. */
export function gapTable(db: Database): Pick<FeedLedger, 'connection' | 'gapsIn'> {
  const set = db.prepare<null, [number, number, string | null, string]>(
    'UPDATE feeds SET connected = ?, connection_at = ?, connection_reason = ? WHERE feed = ?',
  );
  const open = db.prepare<null, [string, number, string]>(
    `INSERT INTO feed_gaps SELECT ?1, ?2, NULL, ?3
     WHERE NOT EXISTS (SELECT * FROM feed_gaps WHERE feed = ?1 AND to_at IS NULL) ON CONFLICT DO NOTHING`,
  );
  const close = db.prepare<null, [number, string]>('UPDATE feed_gaps SET to_at = ? WHERE feed = ? AND to_at IS NULL');
  const thin = db.prepare<null, [string, number]>(
    `DELETE FROM feed_gaps WHERE feed = ?1 AND from_at <
       (SELECT from_at FROM feed_gaps WHERE feed = ?1 ORDER BY from_at DESC LIMIT 1 OFFSET ?2)`,
  );
  const selectIn = db.prepare<Gap, [number, number]>(
    `SELECT from_at AS "from", to_at AS "to", reason FROM feed_gaps
     WHERE from_at <= ?2 AND ifnull(to_at, ?2) >= ?1 ORDER BY from_at DESC`,
  );
  return {
    gapsIn: (fromMs, toMs) => selectIn.all(fromMs, toMs),
    connection(feed, up, at, reason) {
      set.run(Number(up), at, reason, feed);
      if (up) close.run(at, feed);
      else open.run(feed, at, reason ?? 'the connection was lost');
      thin.run(feed, LEDGER_ROWS_MAX);
    },
  };
}
