import type { Database } from 'bun:sqlite';
import type { Close } from '../market/prints.ts';
import type { CloseStore } from '../market/store.ts';

/**
 * Creates the functions that read and write official closes. There is one close per ticker and day. A new close replaces the stored close
 * of the same day. For a day without an official close, the close is the spot of the day's last snapshot.
 */
export function closeTable(db: Database): CloseStore {
  const upsert = db.prepare<null, [Omit<Close, 'simulated'> & { simulated: number }]>(
    `INSERT INTO closes (simulated, ticker, date, close, volume) VALUES ($simulated, $ticker, $date, $close, $volume)
     ON CONFLICT DO UPDATE SET close = $close, volume = $volume`,
  );
  // If there are `limit` official closes, reads only the snapshots after the oldest of these closes. If a query has max(), SQLite takes the
  // other columns from the row with the maximum. Here, the row with the maximum is the last snapshot of the day.
  const selectNewest = db.prepare<Pick<Close, 'date' | 'close' | 'volume'>, [number, string, string, number, number]>(
    `WITH official AS MATERIALIZED (
       SELECT date, close, volume FROM closes WHERE simulated = ?1 AND ticker = ?2 AND date <= ?3 ORDER BY date DESC LIMIT ?4
     ), filled AS (
       SELECT day, spot, max(as_of) FROM snapshots
       WHERE simulated = ?1 AND underlying = ?2 AND day <= ?3 AND as_of <= ?5
         AND day > (SELECT iif(count(*) = ?4, min(date), '') FROM official)
         AND day NOT IN (SELECT date FROM official)
       GROUP BY day ORDER BY day DESC LIMIT ?4
     )
     SELECT date, close, volume FROM official UNION ALL SELECT day, spot, NULL FROM filled ORDER BY date DESC LIMIT ?4`,
  );
  const selectOfficial = db.prepare<Pick<Close, 'date' | 'close' | 'volume'>, [number, string, string, string]>(
    'SELECT date, close, volume FROM closes WHERE simulated = ? AND ticker = ? AND date BETWEEN ? AND ? ORDER BY date',
  );

  const save = db.transaction((closes: readonly Close[]) => {
    for (const close of closes) upsert.run({ ...close, simulated: Number(close.simulated) });
  });

  return {
    saveCloses: (closes) => save.immediate(closes),
    closes: (ticker, date, limit, simulated, untilMs = Number.MAX_SAFE_INTEGER) =>
      selectNewest
        .all(Number(simulated), ticker, date, limit, untilMs)
        .map((row) => ({ ticker, ...row, simulated }))
        .reverse(),
    officialCloses: (ticker, fromDate, toDate, simulated) =>
      selectOfficial.all(Number(simulated), ticker, fromDate, toDate).map((row) => ({ ticker, ...row, simulated })),
  };
}
