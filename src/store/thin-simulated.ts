import type { Database } from 'bun:sqlite';
import { HALF_HOUR_MS, simulatedRetention } from '../market/simulated-past.ts';

/** Returns a function that removes a ticker's simulated rows up to `newest`, except those that `simulatedRetention` keeps. */
export function thinSimulated(
  db: Database,
  table: 'snapshots' | 'levels',
): (underlying: string, newest: number) => void {
  // The index by day contains all columns of the query. The last row of a day is never removed.
  const thin = db.prepare<null, [string, number, number]>(
    `DELETE FROM ${table} WHERE rowid IN (
       SELECT rowid FROM ${table} AS candidate INDEXED BY ${table}_by_day
       WHERE simulated = 1 AND underlying = ?1 AND as_of < ?2 AND (as_of < ?3 OR as_of % ${HALF_HOUR_MS} != 0)
         AND EXISTS (SELECT * FROM ${table} WHERE simulated = 1 AND underlying = ?1 AND day = candidate.day AND as_of > candidate.as_of)
     )`,
  );
  const thinClosed = db.prepare<null, [string, string, number]>(
    `DELETE FROM ${table} WHERE rowid IN (
       SELECT ${table}.rowid FROM json_each(?2) CROSS JOIN ${table}
       WHERE simulated = 1 AND underlying = ?1 AND as_of > value ->> 0 AND as_of < min(value ->> 1, ?3)
     )`,
  );
  return (underlying, newest) => {
    const { allFrom, halfHoursFrom, closedTimes } = simulatedRetention(newest);
    thinClosed.run(underlying, JSON.stringify(closedTimes), allFrom);
    thin.run(underlying, allFrom, halfHoursFrom);
  };
}
