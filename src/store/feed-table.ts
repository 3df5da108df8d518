import type { Database } from 'bun:sqlite';
import { DAY_MS, openMsBetween } from '../market/calendar.ts';
import type {
  ClockStep,
  EndedPoll,
  FeedLedger,
  FeedState,
  Gap,
  OpenedFeed,
  ReceivedSnapshot,
  Rejection,
  TickerState,
} from '../market/feed-ledger.ts';

/** Creates the functions that read and write the state of the feeds, with their checkpoints, polls, tickers, rejections and gaps. */
export function feedTable(db: Database): FeedLedger {
  return {
    ...checkpointTable(db),
    ...pollTable(db),
    ...tickerTable(db),
    ...gapTable(db),
    ...clockTable(db),
    feedStates: feedStates(db),
  };
}

function checkpointTable(db: Database): Pick<FeedLedger, 'checkpoints' | 'setCheckpoint'> {
  const select = db.prepare<{ key: string; value: string }, [string]>(
    'SELECT key, value FROM feed_marks WHERE feed = ?',
  );
  const put = db.prepare<null, [string, string, string]>('INSERT OR REPLACE INTO feed_marks VALUES (?, ?, ?)');
  const drop = db.prepare<null, [string, string]>('DELETE FROM feed_marks WHERE feed = ? AND key = ?');
  return {
    checkpoints: (feed) => new Map(select.all(feed).map(({ key, value }) => [key, value])),
    setCheckpoint(feed, key, value) {
      if (value === null) drop.run(feed, key);
      else put.run(feed, key, value);
    },
  };
}

function pollTable(
  db: Database,
): Pick<FeedLedger, 'openFeeds' | 'forgetFeed' | 'pollBegan' | 'pollEnded' | 'pastFilled'> {
  const add = db.prepare<null, [string, number]>(
    'INSERT INTO feeds (feed, simulated) VALUES (?, ?) ON CONFLICT DO UPDATE SET active = 1',
  );
  const expect = db.prepare<null, [string, string]>('INSERT OR IGNORE INTO feed_tickers (feed, ticker) VALUES (?, ?)');
  const deactivate = db.prepare<null, []>('UPDATE feeds SET active = 0');
  // Gaps are not deleted, because answers about the prints of a day still report the gaps of the day.
  const selectInactive = db.prepare<{ feed: string }, [string]>('SELECT feed FROM feeds WHERE feed = ? AND active = 0');
  const deleteFeed = ['feeds', 'feed_tickers', 'feed_refusals'].map((table) =>
    db.prepare<null, [string]>(`DELETE FROM ${table} WHERE feed = ?`),
  );
  // If a feed polls a list of tickers, this statement removes the state of tickers that are not on the list.
  const dropTickers = db.prepare<null, [string, string]>(
    'DELETE FROM feed_tickers WHERE feed = ? AND ticker NOT IN (SELECT value FROM json_each(?))',
  );
  const thin = thinTickers(db);
  const began = db.prepare<null, [number, string]>('UPDATE feeds SET polled_at = ?, next_at = NULL WHERE feed = ?');
  const ended = db.prepare<null, [{ [Field in keyof EndedPoll]: EndedPoll[Field] }]>(
    `UPDATE feeds SET polled_at = $beganAt, completed_at = iif($error IS NULL, $endedAt, completed_at), next_at = $nextAt,
       error = $error WHERE feed = $feed`,
  );
  const past = db.prepare<null, [number, number, string]>(
    'UPDATE feeds SET past_done = ?, past_total = ? WHERE feed = ?',
  );

  const open = db.transaction((feeds: readonly OpenedFeed[]) => {
    deactivate.run();
    for (const { name, simulated, tickers } of feeds) {
      add.run(name, Number(simulated));
      if (tickers.length > 0) dropTickers.run(name, JSON.stringify(tickers));
      for (const ticker of tickers) expect.run(name, ticker);
      thin(name);
    }
  });

  const forget = db.transaction((feed: string) => {
    if (!selectInactive.get(feed)) return false;
    for (const statement of deleteFeed) statement.run(feed);
    return true;
  });

  return {
    openFeeds: (feeds) => open.immediate(feeds),
    forgetFeed: (feed) => forget.immediate(feed),
    pollBegan: (feed, at) => void began.run(at, feed),
    pollEnded: (poll) => void ended.run({ ...poll }),
    pastFilled: (feed, { done, total }) => void past.run(done, total, feed),
  };
}

/** Number of tickers that one call removes, because the search for the oldest takes longer than the write of a ticker. */
const THINNED = 100;

/** Creates a function that removes the tickers with the oldest attempts from a feed with more than TICKERS_MAX tickers. */
function thinTickers(db: Database): (feed: string) => void {
  const thin = db.prepare<null, [string, number, number]>(
    `DELETE FROM feed_tickers WHERE feed = ?1 AND (SELECT count(*) FROM feed_tickers WHERE feed = ?1) > ?2 AND ticker NOT IN
       (SELECT ticker FROM feed_tickers WHERE feed = ?1 ORDER BY ifnull(attempted_at, 1e15) DESC, ticker LIMIT ?3)`,
  );
  return (feed) => void thin.run(feed, TICKERS_MAX, TICKERS_MAX - THINNED);
}

/** Number of times between snapshots that are kept for each ticker. */
const GAPS_KEPT = 9;

function tickerTable(db: Database): Pick<FeedLedger, 'snapshotReceived' | 'dataReceived' | 'rejected' | 'resolved'> {
  type Received = Omit<ReceivedSnapshot, 'refused' | 'isFresh'> & { refused: string; isFresh: number; gaps: string };
  const upsertTicker = db.prepare<null, [Received]>(
    `INSERT INTO feed_tickers (feed, ticker, attempted_at, fresh_at, as_of, expected, received, refused)
     VALUES ($feed, $ticker, $at, iif($isFresh, $at, NULL), $asOf, $expected, $received, $refused)
     ON CONFLICT DO UPDATE SET attempted_at = $at, failures = 0, refusal = NULL, gaps = $gaps,
       fresh_at = iif($isFresh, $at, fresh_at), as_of = max($asOf, ifnull(as_of, $asOf)),
       expected = iif($asOf >= ifnull(as_of, $asOf), $expected, expected),
       received = iif($asOf >= ifnull(as_of, $asOf), $received, received),
       refused = iif($asOf >= ifnull(as_of, $asOf), $refused, refused)`,
  );
  type Before = Record<'asOf' | 'freshAt' | 'polledAt', number | null> & { gaps: string };
  const selectBefore = db.prepare<Before, [string, string]>(
    `SELECT as_of AS asOf, fresh_at AS freshAt, polled_at AS polledAt, gaps FROM feed_tickers JOIN feeds USING (feed)
     WHERE feed = ? AND ticker = ?`,
  );
  /** Returns the times between the last fresh snapshots, as JSON. A snapshot of the same poll as the one before it adds no time. */
  const gapsWith = ({ feed, ticker, at, asOf, isFresh }: ReceivedSnapshot): string => {
    const before = selectBefore.get(feed, ticker);
    if (!before) return '[]';
    const isOfThisPoll = before.freshAt !== null && before.polledAt !== null && before.freshAt >= before.polledAt;
    if (!isFresh || before.asOf === null || before.freshAt === null || isOfThisPoll) return before.gaps;
    // Quotes may arrive late and together, or be of another day than their arrival, so the longer of two times counts.
    const gap = Math.max(openMsBetween(before.asOf, asOf, DAY_MS), openMsBetween(before.freshAt, at, DAY_MS));
    return gap === 0 ? before.gaps : JSON.stringify([gap, ...JSON.parse(before.gaps)].slice(0, GAPS_KEPT));
  };
  const dataReceived = db.prepare<null, [number, string]>('UPDATE feeds SET data_at = ? WHERE feed = ?');
  const upsertFailure = db.prepare<null, [{ feed: string; ticker: string; at: number; reason: string }]>(
    `INSERT INTO feed_tickers (feed, ticker, attempted_at, failures, refusal) VALUES ($feed, $ticker, $at, 1, $reason)
     ON CONFLICT DO UPDATE SET attempted_at = $at, failures = failures + 1, refusal = $reason`,
  );
  const insertRejection = db.prepare<null, [{ [Field in keyof Rejection]: Rejection[Field] }]>(
    `INSERT INTO feed_refusals (feed, origin, reason, ticker, at) VALUES ($feed, $origin, $reason, $ticker, $at)
     ON CONFLICT DO UPDATE SET reason = $reason, ticker = $ticker, at = $at, times = times + 1`,
  );
  const removeByOrigin = db.prepare<null, [string, string]>('DELETE FROM feed_refusals WHERE feed = ? AND origin = ?');
  const removeByTicker = db.prepare<null, [string, string]>('DELETE FROM feed_refusals WHERE feed = ? AND ticker = ?');
  const removeExcessTickers = thinTickers(db);
  const thin = db.prepare<null, [string, number]>(
    `DELETE FROM feed_refusals WHERE feed = ?1 AND (at, origin) <
       (SELECT at, origin FROM feed_refusals WHERE feed = ?1 ORDER BY at DESC, origin DESC LIMIT 1 OFFSET ?2 - 1)`,
  );
  return {
    snapshotReceived(snapshot) {
      const gaps = gapsWith(snapshot);
      const refused = JSON.stringify(snapshot.refused);
      upsertTicker.run({ ...snapshot, refused, isFresh: Number(snapshot.isFresh), gaps });
      removeExcessTickers(snapshot.feed);
      dataReceived.run(snapshot.at, snapshot.feed);
    },
    dataReceived: (feed, at) => void dataReceived.run(at, feed),
    rejected(rejection) {
      const { feed, ticker, at, reason } = rejection;
      if (ticker !== null) {
        upsertFailure.run({ feed, ticker, at, reason });
        removeExcessTickers(feed);
      }
      insertRejection.run(rejection);
      thin.run(feed, LEDGER_ROWS_MAX);
    },
    resolved: (feed, source) =>
      void ('origin' in source ? removeByOrigin.run(feed, source.origin) : removeByTicker.run(feed, source.ticker)),
  };
}

/** Number of steps of the clock that are kept. */
const CLOCK_STEPS_KEPT = 10;
/** The columns with moments that the service itself writes. The moments of quotes are not among them, because the data names them. */
const MOMENTS = [
  ...['polled_at', 'completed_at', 'next_at', 'data_at', 'connection_at'].map((column) => ['feeds', column] as const),
  ...['attempted_at', 'fresh_at'].map((column) => ['feed_tickers', column] as const),
];

function clockTable(db: Database): Pick<FeedLedger, 'clockStepped' | 'clockSteps'> {
  type Shift = { sinceMs: number; byMs: number };
  const shift = [...MOMENTS, ['feed_refusals', 'at'] as const].map(([table, column]) =>
    db.prepare<null, [Shift]>(`UPDATE ${table} SET ${column} = ${column} + $byMs WHERE ${column} >= $sinceMs`),
  );
  const forget = MOMENTS.filter(([, column]) => column !== 'next_at').map(([table, column]) =>
    db.prepare<null, [number]>(`UPDATE ${table} SET ${column} = NULL WHERE ${column} > ?`),
  );
  const add = db.prepare<null, [number, number]>('INSERT INTO clock_steps VALUES (?, ?)');
  const thin = db.prepare<null, [number]>(
    'DELETE FROM clock_steps WHERE rowid NOT IN (SELECT rowid FROM clock_steps ORDER BY rowid DESC LIMIT ?)',
  );
  const select = db.prepare<ClockStep, []>('SELECT at, by_ms AS byMs FROM clock_steps ORDER BY rowid DESC');
  const stepped = db.transaction(({ sinceMs, byMs, nowMs }: Shift & { nowMs: number }) => {
    if (byMs !== 0) {
      for (const statement of shift) statement.run({ sinceMs, byMs });
      add.run(nowMs, byMs);
      thin.run(CLOCK_STEPS_KEPT);
    }
    for (const statement of forget) statement.run(nowMs);
  });
  return { clockStepped: (step) => stepped.immediate(step), clockSteps: () => select.all() };
}

/** Maximum number of stored rejections, and of stored gaps, per feed. An operator needs no more, even if ten thousand files are bad. */
const LEDGER_ROWS_MAX = 200;

/** Maximum number of tickers that are stored per feed. The largest universe has slightly fewer tickers. */
const TICKERS_MAX = 1_100;

/** Creates the function that reads the state of every feed. */
function feedStates(db: Database): FeedLedger['feedStates'] {
  const selectFeeds = db.prepare<FeedRow, []>(
    `SELECT feed, simulated, polled_at AS polledAt, completed_at AS completedAt, next_at AS nextAt, data_at AS dataAt, error, connected,
       connection_at AS connectionAt, connection_reason AS connectionReason, past_done AS pastDone, past_total AS pastTotal
     FROM feeds WHERE active = 1 ORDER BY feed`,
  );
  type TickerRow = Omit<TickerState, 'refused' | 'gaps'> & { refused: string; gaps: string };
  const selectTickers = db.prepare<TickerRow, [string, number]>(
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

type FeedRow = Pick<FeedState, 'feed' | 'polledAt' | 'completedAt' | 'nextAt' | 'dataAt' | 'error'> &
  Record<'connected' | 'connectionAt' | 'pastDone' | 'pastTotal', number | null> & {
    readonly simulated: number;
    readonly connectionReason: string | null;
  };

/** Creates the functions that read and write gaps. A gap is a period in which the stream of a feed was down. */
function gapTable(db: Database): Pick<FeedLedger, 'connection' | 'gapsIn'> {
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
