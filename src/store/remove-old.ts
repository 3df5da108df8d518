import type { Database } from 'bun:sqlite';
import { newYorkDate } from '../market/calendar.ts';
import type { MarketStore, Retention } from '../market/store.ts';
import { printCounts } from './print-counts.ts';
import { tapesIn } from './print-rows.ts';

/** Maximum number of rows of prints that one transaction removes. Requests have their turn between two transactions. */
const PRINTS_MAX = 250;
/** Maximum number of snapshots that one statement removes. */
const SNAPSHOTS_MAX = 20;

/**
 * Creates the functions that remove data whose retention has ended, and that state from when on data is kept. Levels stay when their
 * snapshot is removed. The sums of a day are removed when the prints of the day have been removed.
 */
export function retention(db: Database): Pick<MarketStore, 'removeOld' | 'keptFrom'> {
  const selectTapes = tapesIn(db);
  const counts = printCounts(db);
  const deletePrints = db.prepare<{ at: number; canceled: number }, [number, string, number, number]>(
    `DELETE FROM prints WHERE rowid IN
       (SELECT rowid FROM prints WHERE simulated = ? AND underlying = ? AND at < ? LIMIT ?) RETURNING at, canceled`,
  );
  // Selects a part whose last print is too old. Retention removes whole days, and a part belongs to one day.
  const selectPart = db.prepare<{ id: number; entries: number }, [number]>(
    'SELECT id, entries FROM tape_parts WHERE to_at < ? LIMIT 1',
  );
  const deletePart = db.prepare<null, [number]>('DELETE FROM tape_parts WHERE id = ?');
  const deleteDays = db.prepare<null, [string]>('DELETE FROM tape_days WHERE day < ?');
  const deleteSums = db.prepare<null, [string]>('DELETE FROM print_sums WHERE day < ?');
  // The newest snapshot of a ticker always stays. A snapshot whose levels are due stays until these levels are recorded.
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

  const saveKept = db.prepare<null, ['intraday' | 'prints', number]>(
    'INSERT INTO kept_from VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = max(at, ?2)',
  );
  const selectKept = db.prepare<{ at: number }, ['intraday' | 'prints']>('SELECT at FROM kept_from WHERE what = ?');
  const removePrints = (fromMs: number): number => {
    // Record the moment before the first print is removed, so that answers report that prints are missing.
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
    // All old prints have been removed, so remove the sums of their days.
    if (removed < PRINTS_MAX) {
      deleteSums.run(newYorkDate(fromMs));
      deleteDays.run(newYorkDate(fromMs));
    }
    return removed;
  };
  const removeIntraday = (presentMs: number, fromMs: number): number => {
    saveKept.run('intraday', fromMs);
    return deleteIntraday.run(presentMs, fromMs, SNAPSHOTS_MAX).changes;
  };
  const remove = db.transaction(({ printsFromMs, chainsFromMs, intradayFromMs, presentMs }: Retention) => ({
    prints: printsFromMs === undefined ? 0 : counts.batch(() => removePrints(printsFromMs)),
    chains:
      (chainsFromMs === undefined ? 0 : deleteChains.run(presentMs, chainsFromMs, SNAPSHOTS_MAX).changes) +
      (intradayFromMs === undefined ? 0 : removeIntraday(presentMs, intradayFromMs)),
  }));

  return {
    removeOld: (limits) => remove.immediate(limits),
    keptFrom: (what) => selectKept.get(what)?.at ?? 0,
  };
}
