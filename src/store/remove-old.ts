import type { Database } from 'bun:sqlite';
import { newYorkDate } from '../market/calendar.ts';
import type { RetainedKind, Retention, RetentionStore } from '../market/store.ts';
import { printCounts } from './tape/print-counts.ts';
import { tapesIn } from './tape/print-rows.ts';
import type { TapeId } from './tape/tape-days.ts';

/** Maximum number of print rows that one transaction removes. Requests can be served between two transactions. */
const PRINTS_MAX = 250;
/** Maximum number of level records that one transaction removes. */
const LEVELS_MAX = 1_000;
/** Maximum number of snapshots that one statement removes. */
const SNAPSHOTS_MAX = 20;

/** Creates the functions of retention. Levels outlast their snapshots, and the sums of a day go after its prints. */
export function retention(db: Database): RetentionStore {
  const selectTapes = tapesIn(db);
  const counts = printCounts(db);
  const deletePrints = db.prepare<{ at: number; canceled: number }, [number, string, number, number]>(
    `DELETE FROM prints WHERE rowid IN
       (SELECT rowid FROM prints WHERE simulated = ? AND underlying = ? AND at < ? LIMIT ?) RETURNING at, canceled`,
  );
  // Selects a part whose last print is too old. It is removed whole, because retention removes days and a part belongs to one.
  const selectPart = db.prepare<{ id: number; entries: number }, [number]>(
    'SELECT id, entries FROM tape_parts WHERE to_at < ? LIMIT 1',
  );
  const deletePart = db.prepare<null, [number]>('DELETE FROM tape_parts WHERE id = ?');
  const deleteDays = db.prepare<null, [string]>('DELETE FROM tape_days WHERE day < ?');
  const deleteSums = db.prepare<null, [string]>('DELETE FROM print_sums WHERE day < ?');
  // The newest snapshot of a ticker is never removed. A snapshot is not removed before its levels are computed.
  const old = `SELECT id FROM snapshots AS candidate WHERE id NOT IN (SELECT snapshot FROM levels_due)
    AND as_of < (SELECT max(as_of) FROM snapshots
      WHERE simulated = candidate.simulated AND underlying = candidate.underlying AND as_of <= ?1)`;
  const deleteChains = db.prepare<null, [number, number, number]>(
    `DELETE FROM snapshots WHERE id IN (${old} AND as_of < ?2 LIMIT ?3)`,
  );
  const deleteIntraday = db.prepare<null, [number, number, number]>(
    `DELETE FROM snapshots WHERE id IN (${old} AND as_of < ?2 AND EXISTS (
       SELECT * FROM snapshots WHERE simulated = candidate.simulated AND underlying = candidate.underlying AND day = candidate.day
         AND as_of > candidate.as_of
     ) LIMIT ?3)`,
  );

  const selectLevelNames = db.prepare<TapeId, []>(
    'SELECT simulated, underlying FROM levels GROUP BY simulated, underlying',
  );
  const deleteLevels = db.prepare<null, [number, string, number, number]>(
    `DELETE FROM levels WHERE simulated = ?1 AND underlying = ?2 AND as_of IN
       (SELECT as_of FROM levels WHERE simulated = ?1 AND underlying = ?2 AND as_of < ?3 LIMIT ?4)`,
  );

  const saveKept = db.prepare<null, [RetainedKind, number]>(
    'INSERT INTO kept_from VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = max(at, ?2)',
  );
  const selectKept = db.prepare<{ at: number }, [RetainedKind]>('SELECT at FROM kept_from WHERE what = ?');
  const removePrints = (fromMs: number): number => {
    // The limit is saved before the first print is removed, so that answers report that prints are missing.
    saveKept.run('prints', fromMs);
    let removed = 0;
    for (const { simulated, underlying } of selectTapes.all()) {
      const deleted = deletePrints.all(simulated, underlying, fromMs, PRINTS_MAX - removed);
      for (const { at, canceled } of deleted) counts.count({ simulated, underlying, at }, -1, -canceled);
      removed += deleted.length;
      if (removed >= PRINTS_MAX) break;
    }
    const part = removed > 0 ? null : selectPart.get(fromMs);
    if (part) {
      deletePart.run(part.id);
      return part.entries;
    }
    // When all old prints have been removed, the sums of their days are removed.
    if (removed < PRINTS_MAX) {
      deleteSums.run(newYorkDate(fromMs));
      deleteDays.run(newYorkDate(fromMs));
    }
    return removed;
  };
  const removeSnapshots = (kind: 'chains' | 'intraday', presentMs: number, fromMs: number | undefined): number => {
    if (fromMs === undefined) return 0;
    saveKept.run(kind, fromMs);
    return (kind === 'chains' ? deleteChains : deleteIntraday).run(presentMs, fromMs, SNAPSHOTS_MAX).changes;
  };
  const removeLevels = (fromMs: number): number => {
    saveKept.run('levels', fromMs);
    let removed = 0;
    for (const { simulated, underlying } of selectLevelNames.all()) {
      removed += deleteLevels.run(simulated, underlying, fromMs, LEVELS_MAX - removed).changes;
      if (removed >= LEVELS_MAX) break;
    }
    return removed;
  };
  const remove = db.transaction(
    ({ printsFromMs, chainsFromMs, intradayFromMs, levelsFromMs, presentMs }: Retention) => ({
      prints: printsFromMs === undefined ? 0 : counts.batch(() => removePrints(printsFromMs)),
      chains:
        removeSnapshots('chains', presentMs, chainsFromMs) + removeSnapshots('intraday', presentMs, intradayFromMs),
      levels: levelsFromMs === undefined ? 0 : removeLevels(levelsFromMs),
    }),
  );

  return {
    removeOld: (limits) => remove.immediate(limits),
    keptFrom: (what) => selectKept.get(what)?.at ?? 0,
    dataSpan: dataSpans(db),
  };
}

/** Creates the function that returns the oldest and the newest moment for a kind of data. */
function dataSpans(db: Database): RetentionStore['dataSpan'] {
  // The queries use the index to step from one underlying to the next. The time of the queries does not grow with the number of rows.
  const spanIn = (table: string, first: string, last: string) =>
    db.prepare<{ fromMs: number | null; toMs: number | null }, [number, number]>(
      `WITH RECURSIVE names (name) AS (
         SELECT min(underlying) FROM ${table} WHERE simulated = ?1
         UNION ALL
         SELECT (SELECT min(underlying) FROM ${table} WHERE simulated = ?1 AND underlying > name)
         FROM names WHERE name IS NOT NULL
       ) SELECT
         min((SELECT min(${first}) FROM ${table} WHERE simulated = ?1 AND underlying = name AND ${first} <= ?2)) AS fromMs,
         max((SELECT max(${last}) FROM ${table} WHERE simulated = ?1 AND underlying = name AND ${last} <= ?2)) AS toMs
       FROM names WHERE name IS NOT NULL`,
    );
  const spans = {
    chains: [spanIn('snapshots', 'as_of', 'as_of')],
    prints: [spanIn('prints', 'at', 'at'), spanIn('tape_parts', 'to_at', 'to_at')],
    levels: [spanIn('levels', 'as_of', 'as_of')],
  };
  return (kind, untilMs) => {
    for (const simulated of [0, 1]) {
      const found = spans[kind].map((span) => span.get(simulated, untilMs)!);
      const moments = found.flatMap(({ fromMs, toMs }) => (fromMs === null || toMs === null ? [] : [fromMs, toMs]));
      if (moments.length > 0) return { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
    }
    return undefined;
  };
}
