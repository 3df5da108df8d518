import type { Database } from 'bun:sqlite';
import type { LevelLog, LevelPlace } from '../market/store.ts';
import { ENTRY, type Entry, KEPT_AT, RECORD, recordOfRow, type StoredLevelRow } from './level-table.ts';

/** Creates the functions that read the table of levels as a log. */
export function levelLog(db: Database): LevelLog {
  const selectName = db.prepare<{ name: string }, []>('SELECT name FROM level_log');
  const selectHead = db.prepare<{ seq: number }, []>("SELECT seq FROM sqlite_sequence WHERE name = 'levels'");
  const selectEvents = db.prepare<StoredLevelRow & Entry, [number, number, number]>(
    `SELECT ${RECORD}, ${ENTRY} FROM levels WHERE simulated = ? AND advanced = 1 AND seq > ? ORDER BY seq LIMIT ?`,
  );
  // Reads each ticker's index entries in ascending order of `seq`, up to the limit. After that, reads the rows.
  const selectEventsOf = db.prepare<StoredLevelRow & Entry, [number, string, number, number]>(
    `WITH wanted AS (
       SELECT seq FROM json_each(?2) CROSS JOIN levels INDEXED BY levels_of_ticker
       WHERE simulated = ?1 AND underlying = value AND advanced = 1 AND seq > ?3 ORDER BY seq LIMIT ?4
     ) SELECT ${RECORD}, ${ENTRY} FROM wanted CROSS JOIN levels USING (seq) ORDER BY seq`,
  );
  const selectFirstMissed = db.prepare<{ at: number }, [number, string, number]>(
    `SELECT ${KEPT_AT} AS at FROM levels WHERE seq = (
       SELECT min((
         SELECT min(seq) FROM levels INDEXED BY levels_of_ticker
         WHERE simulated = ?1 AND underlying = value AND advanced = 1 AND seq > ?3
       )) FROM json_each(?2)
     )`,
  );
  const place = `seq, underlying, as_of AS asOf, ${KEPT_AT} AS keptAt`;
  const selectAfter = db.prepare<LevelPlace, [number]>(
    `SELECT ${place} FROM levels WHERE seq > ? ORDER BY seq LIMIT 1`,
  );
  const selectUpTo = db.prepare<LevelPlace, [number]>(
    `SELECT ${place} FROM levels WHERE seq <= ? ORDER BY seq DESC LIMIT 1`,
  );
  const selectBefore = db.prepare<StoredLevelRow & Entry, [number, string, number]>(
    `SELECT ${RECORD}, ${ENTRY} FROM levels INDEXED BY levels_of_ticker
     WHERE simulated = ? AND underlying = ? AND advanced = 1 AND seq < ? ORDER BY seq DESC LIMIT 1`,
  );
  const selectLastEntry = db.prepare<LevelPlace, [number, string, number]>(
    `SELECT ${place} FROM levels INDEXED BY levels_of_ticker
     WHERE simulated = ? AND underlying = ? AND advanced = 1 AND seq <= ? ORDER BY seq DESC LIMIT 1`,
  );
  // The index that makes a moment unique has all columns of this query.
  const selectPlaces = db.prepare<Pick<LevelPlace, 'seq' | 'asOf'>, [number, string, number, number, number, number]>(
    `SELECT seq, as_of AS asOf FROM levels
     WHERE simulated = ? AND underlying = ? AND as_of > ? AND seq > ? AND seq <= ? ORDER BY as_of LIMIT ?`,
  );
  // Reads the few rows of the range, whatever their tickers are.
  const selectLate = db.prepare<StoredLevelRow & Entry, [number, number, number, string, number]>(
    `SELECT ${RECORD}, ${ENTRY} FROM levels NOT INDEXED
     WHERE seq > ? AND seq <= ? AND simulated = ? AND advanced = 0 AND underlying IN (SELECT value FROM json_each(?))
     ORDER BY seq LIMIT ?`,
  );
  const selectRecords = db.prepare<StoredLevelRow & Entry & { readonly advanced: number }, [string]>(
    `SELECT ${RECORD}, ${ENTRY}, advanced FROM json_each(?) CROSS JOIN levels ON seq = value ORDER BY seq`,
  );
  const head = () => selectHead.get()?.seq ?? 0;

  return {
    levelLogName: () => selectName.get()!.name,
    lastLevelSeq: head,
    levelEvents: (afterSeq, limit, simulated) => selectEvents.all(Number(simulated), afterSeq, limit).map(recordOfRow),
    levelEventsOf: (underlyings, afterSeq, limit, simulated) =>
      selectEventsOf.all(Number(simulated), JSON.stringify(underlyings), afterSeq, limit).map(recordOfRow),
    firstMissedAt: (underlyings, afterSeq, simulated) =>
      selectFirstMissed.get(Number(simulated), JSON.stringify(underlyings), afterSeq)?.at,
    levelEventBefore(underlying, seq, simulated) {
      const row = selectBefore.get(Number(simulated), underlying, seq);
      return row ? recordOfRow(row) : undefined;
    },
    levelSeqAt(atMs, afterSeq) {
      // Entries are stored in the order of time, so a binary search finds the first without an index of these times.
      let [low, high] = [afterSeq, Math.max(afterSeq, head())];
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const next = selectAfter.get(middle);
        if (next && next.keptAt < atMs) low = next.seq;
        else high = middle;
      }
      return low;
    },
    levelsAround: (seq) => ({ before: selectUpTo.get(seq) ?? undefined, after: selectAfter.get(seq) ?? undefined }),
    lastLevelEntry: (underlying, upToSeq, simulated) =>
      selectLastEntry.get(Number(simulated), underlying, upToSeq) ?? undefined,
    levelPlaces: (underlying, afterMs, [afterSeq, upToSeq], limit, simulated) =>
      selectPlaces.all(Number(simulated), underlying, afterMs, afterSeq, upToSeq, limit),
    lateLevels: (underlyings, [afterSeq, upToSeq], limit, simulated) =>
      selectLate.all(afterSeq, upToSeq, Number(simulated), JSON.stringify(underlyings), limit).map(recordOfRow),
    levelRecords: (seqs) =>
      selectRecords
        .all(JSON.stringify(seqs))
        .map(({ advanced, ...row }) => ({ ...recordOfRow(row), isEntry: advanced === 1 })),
  };
}
