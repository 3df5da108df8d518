import type { Database } from 'bun:sqlite';
import { newYorkDate } from '../market/calendar.ts';
import type { CashDividend } from '../market/cash-dividend.ts';
import type { Close } from '../market/prints.ts';
import type { CloseStore, DividendStore } from '../market/store.ts';

type CloseRow = Pick<Close, 'date' | 'close' | 'volume'>;

/** Creates the functions that read and write closes, one per ticker and day. Without an official close, the last spot of a day counts. */
export function closeTable(db: Database): CloseStore {
  const upsert = db.prepare<null, [Omit<Close, 'simulated'> & { simulated: number }]>(
    `INSERT INTO closes (simulated, ticker, date, close, volume) VALUES ($simulated, $ticker, $date, $close, $volume)
     ON CONFLICT DO UPDATE SET close = $close, volume = $volume WHERE (close, volume) IS NOT ($close, $volume)`,
  );
  // If there are `limit` official closes, reads only the snapshots after the oldest of these closes. The query uses the index to step back
  // from day to day. The query's time therefore grows with the number of days, not of snapshots.
  const selectNewest = db.prepare<CloseRow, [number, string, string, number, number, string]>(
    `WITH RECURSIVE official AS MATERIALIZED (
       SELECT date, close, volume FROM closes WHERE simulated = ?1 AND ticker = ?2 AND date <= ?3 ORDER BY date DESC LIMIT ?4
     ), oldest (day) AS MATERIALIZED (
       SELECT iif(count(*) = ?4, min(date), '') FROM official
     ), days (day) AS (
       SELECT max(day) FROM snapshots WHERE simulated = ?1 AND underlying = ?2 AND day <= min(?3, ?6)
       UNION ALL
       SELECT (SELECT max(day) FROM snapshots WHERE simulated = ?1 AND underlying = ?2 AND day < days.day)
       FROM days, oldest WHERE days.day > oldest.day LIMIT 2 * ?4 + 1
     ), filled (day, spot) AS (
       SELECT days.day, (
         SELECT spot FROM snapshots WHERE simulated = ?1 AND underlying = ?2 AND day = days.day AND as_of <= ?5
         ORDER BY as_of DESC LIMIT 1
       ) FROM days, oldest WHERE days.day > oldest.day AND days.day NOT IN (SELECT date FROM official)
     )
     SELECT date, close, volume FROM official
     UNION ALL SELECT day, spot, NULL FROM filled WHERE spot IS NOT NULL ORDER BY date DESC LIMIT ?4`,
  );
  const selectOfficial = db.prepare<CloseRow, [number, string, string, string]>(
    'SELECT date, close, volume FROM closes WHERE simulated = ? AND ticker = ? AND date BETWEEN ? AND ? ORDER BY date',
  );

  const save = db.transaction(
    (closes: readonly Close[]) =>
      closes.filter((close) => upsert.run({ ...close, simulated: Number(close.simulated) }).changes > 0).length,
  );

  return {
    saveCloses: (closes) => save.immediate(closes),
    closes(ticker, date, limit, simulated, untilMs = Number.MAX_SAFE_INTEGER) {
      // Of later days, only official closes count.
      const lastDay = untilMs === Number.MAX_SAFE_INTEGER ? date : newYorkDate(untilMs);
      return selectNewest
        .all(Number(simulated), ticker, date, limit, untilMs, lastDay)
        .map((row) => ({ ticker, ...row, simulated }))
        .reverse();
    },
    officialCloses: (ticker, fromDate, toDate, simulated) =>
      selectOfficial.all(Number(simulated), ticker, fromDate, toDate).map((row) => ({ ticker, ...row, simulated })),
  };
}

/** Creates the functions that read and write cash dividends. */
export function dividendTable(db: Database): DividendStore {
  // If the dividend was already known like this, a repetition adds nothing.
  const upsert = db.prepare<null, [Omit<CashDividend, 'simulated'> & { simulated: number }]>(
    `INSERT INTO dividends (simulated, ticker, ex_date, known_from, amount, status)
     SELECT $simulated, $ticker, $exDate, $knownFrom, $amount, $status WHERE ($amount, $status) IS NOT (
       SELECT amount, status FROM dividends
       WHERE simulated = $simulated AND ticker = $ticker AND ex_date = $exDate AND known_from <= $knownFrom
       ORDER BY known_from DESC LIMIT 1
     )
     ON CONFLICT DO UPDATE SET amount = $amount, status = $status`,
  );
  // With max(known_from), SQLite takes the other columns from the row that has it.
  const select = db.prepare<Omit<CashDividend, 'ticker' | 'simulated'>, [number, string, string, string, number]>(
    `SELECT * FROM (
       SELECT ex_date AS exDate, amount, status, max(known_from) AS knownFrom FROM dividends
       WHERE simulated = ? AND ticker = ? AND ex_date BETWEEN ? AND ? AND known_from <= ? GROUP BY ex_date
     ) WHERE amount > 0 ORDER BY exDate`,
  );
  const save = db.transaction(
    (dividends: readonly CashDividend[]) =>
      dividends.filter((each) => upsert.run({ ...each, simulated: Number(each.simulated) }).changes > 0).length,
  );
  return {
    saveDividends: (dividends) => save.immediate(dividends),
    dividends: (ticker, fromDate, toDate, simulated, knownAtMs) =>
      select.all(Number(simulated), ticker, fromDate, toDate, knownAtMs).map((row) => ({ ticker, ...row, simulated })),
  };
}
